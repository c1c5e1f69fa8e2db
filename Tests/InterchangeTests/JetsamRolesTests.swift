import Foundation
import Lifecycle
import Plan
import Pressure
import Quantities
import Scenario
import Simulation
import Testing

@testable import Interchange

/// Which processes of a report are apps, and which belong to them or to the system.
@Suite("who is who in a JetsamEvent report")
struct JetsamRolesTests {
    typealias Entry = JetsamFixture.Entry

    private static func phone(
        _ entries: [Entry], _ system: String = "iPhone OS 18.5 (22F76)"
    ) throws -> JetsamPhoneImport {
        try JetsamPhoneImport(Array(JetsamFixture.report(entries, system: system).utf8), file: "report.ips")
    }

    private static func names(_ phone: JetsamPhoneImport, _ kind: ProcessKind?) -> [String] {
        phone.members.filter { $0.kind == kind }.map(\.name)
    }

    private static func host(_ name: String, _ phone: JetsamPhoneImport) -> String? {
        phone.members.first { $0.name == name }?.host
    }

    private static func of(_ coalition: Int, age: Int? = nil, _ more: String = "") -> String {
        "\"coalition\" : \(coalition)," + (age.map { "\"age\" : \($0)," } ?? "") + more
    }

    /// Today's words: whatever runs is `active`.
    private static let running = [
        Entry("Notes", 900, 0, "suspended", of(5)), Entry("Radio", 700, 0, "suspended", of(6)),
        Entry("maild", 500, 10, "active", of(7)), Entry("dragd", 260, 10, "active frontmost", of(8)),
        Entry("searchd", 1_200, 140, "active", of(9)), Entry("timed", 230, 140, "daemon", of(10)),
        Entry("com.apple.DriverKit-Wireless", 1_300, 150, "active", of(11)),
        Entry("SpringBoard", 5_800, 160, "active frontmost", of(12)), Entry("logd", 400, 180, "active", of(13)),
        Entry("launchd", 1_100, 999, "active", of(14)),
    ]

    // MARK: Active

    @Test("a process that is merely active is a daemon, frontmost or not below band 100: the home screen is in front")
    func active() throws {
        let phone = try Self.phone(Self.running)
        #expect(Self.names(phone, nil) == ["Notes", "Radio"])
        #expect(phone.front == nil && phone.members.count { $0.kind == .daemon } == 8)
        let apps = try JetsamEventImport(
            Array(JetsamFixture.report(Self.running, system: "iPhone OS 18.5 (22F76)").utf8), file: "r.ips")
        #expect(apps.apps.map(\.name) == ["Notes", "Radio"] && apps.front == nil)
    }

    @Test("from band 100 up a frontmost app is in front, and without bands it is")
    func frontmost() throws {
        var entries = Self.running
        entries.insert(Entry("Chess", 4_000, 100, "active frontmost", Self.of(20)), at: 4)
        #expect(try Self.phone(entries).front?.name == "Chess")
        entries[4].band = 80
        #expect(try Self.phone(entries).front == nil)
        let old = [Entry("Chess", 4_000, nil, "frontmost resume"), Entry("SpringBoard", 5_000, nil, "")]
        #expect(try Self.phone(old, "iPhone OS 12.1 (16B92)").front?.name == "Chess")
    }

    @Test("daemons keep their bands in the run: none is suspended and falls")
    func bands() throws {
        let phone = try Self.phone(Self.running)
        var plan = try JetsamEventTests.load(phone.scenario)
        plan.duration = .seconds(40)
        let output = try TraceFixture.play(plan)
        let last = try #require(output.apps.last?["time_s"])
        for row in output.apps where row["time_s"] == last {
            guard let member = phone.members.first(where: { $0.name == row["app"] }) else { continue }
            #expect(row["band"] == "\(member.band)", "\(member.name)")
        }
        #expect(output.tally.terminations.isEmpty)
    }

    @Test("an app that runs off screen is known by its name, by its code or by its web page, and stays in its band")
    func offScreen() throws {
        let others =
            Self.running + [
                Entry("MobileMail", 3_000, 40, "active", Self.of(30)),
                Entry("Tune", 2_000, 120, "active", Self.of(31, "\"csTrustLevel\" : 5,")),
                Entry("Reader", 2_000, 40, "active", Self.of(32)),
                Entry("com.apple.WebKit.WebContent", 900, 40, "active", Self.of(32)),
                Entry("bluetoothd", 500, 120, "active", Self.of(33, "\"csTrustLevel\" : 8,")),
                Entry("Walk", 800, 40, "location", Self.of(34)),
            ]
        let phone = try Self.phone(others)
        #expect(Self.names(phone, nil) == ["Notes", "Radio", "MobileMail", "Tune", "Reader", "Walk"])
        #expect(Self.names(phone, .webContent) == ["com.apple.WebKit.WebContent"])
        var plan = try JetsamEventTests.load(phone.scenario)
        plan.duration = .seconds(40)
        let output = try TraceFixture.play(plan)
        let last = try #require(output.apps.last?["time_s"])
        let bands = output.apps.filter { $0["time_s"] == last && ["Tune", "MobileMail"].contains($0["app"]) }
        #expect(bands.map { $0["band"] } == ["40", "120"])
    }

    // MARK: Coalitions

    @Test("what shares a coalition with an app is the app's, whatever its name")
    func parts() throws {
        let phone = try Self.phone(
            Self.running + [
                Entry("VPN", 2_500, 0, "suspended", Self.of(40, age: 900)),
                Entry("PacketTunnel", 3_200, 100, "frontmost", Self.of(40, age: 800)),
                Entry("Paint", 2_500, 0, "suspended", Self.of(41, age: 900)),
                Entry("PaintIntents", 200, 0, "suspended", Self.of(41, age: 800)),
                Entry("Brushes", 200, 0, "suspended", Self.of(41, age: 700)),
                Entry("com.apple.WebKit.Networking", 300, 0, "daemon idle", Self.of(41, age: 700)),
                Entry("com.apple.WebKit.GPU", 300, 0, "suspended", Self.of(41, age: 700)),
                Entry("MTLCompilerService", 300, 0, "daemon idle", Self.of(41, age: 700)),
                Entry("Safari", 9_000, 100, "frontmost", Self.of(42)),
            ])
        #expect(Self.names(phone, nil) == ["Notes", "Radio", "VPN", "Paint", "Safari"])
        #expect(phone.front?.name == "Safari")
        #expect(Self.names(phone, .packetTunnel) == ["PacketTunnel"] && Self.host("PacketTunnel", phone) == "VPN")
        #expect(Self.names(phone, .otherExtension) == ["PaintIntents", "Brushes"])
        #expect(Self.names(phone, .networking) == ["com.apple.WebKit.Networking"])
        #expect(Self.names(phone, .helper) == ["com.apple.WebKit.GPU"])
        for name in ["PaintIntents", "Brushes", "com.apple.WebKit.Networking"] {
            #expect(Self.host(name, phone) == "Paint", "\(name)")
        }
        #expect(Self.names(phone, .daemon).contains("MTLCompilerService"))
        #expect(phone.scenario.contains("kind: packet-tunnel, of: \"VPN\""))
        #expect(try JetsamEventTests.load(phone.scenario).parts.isEmpty == false)
    }

    @Test("a coalition of extensions has no app: neither a daemon's, nor SpringBoard's, nor one of several makers")
    func hosted() throws {
        let entries =
            Self.running + [
                Entry("MusicWidgets", 200, 0, "suspended", Self.of(50, age: 900)),
                Entry("Headlines", 260, 0, "suspended", Self.of(50, age: 800)),
                Entry("ClockWidget", 230, 0, "suspended", Self.of(50, age: 700)),
                Entry("keyd", 150, 0, "daemon idle", Self.of(51, age: 900)),
                Entry("keytoken", 140, 0, "suspended", Self.of(51, age: 800)),
                Entry("delivery", 140, 0, "suspended", Self.of(12, age: 800)),
                Entry("hostd", 150, 30, "active", Self.of(54, age: 900)),
                Entry("Hosted", 140, 0, "suspended", Self.of(54, age: 800)),
                Entry("SiriAUSP", 190, 0, "suspended", Self.of(52)),
                Entry("InfographPoster", 250, 0, "suspended", Self.of(53)),
            ]
        let phone = try Self.phone(entries)
        #expect(Self.names(phone, nil) == ["Notes", "Radio"])
        #expect(Self.names(phone, .widget) == ["MusicWidgets", "ClockWidget"])
        #expect(
            Self.names(phone, .otherExtension) == [
                "Headlines", "keytoken", "delivery", "Hosted", "SiriAUSP", "InfographPoster",
            ])
        #expect(phone.members.allSatisfy { $0.host == nil })
    }

    @Test("an app older than its services, and one younger than a service that has outlived it, are apps")
    func services() throws {
        let phone = try Self.phone(
            Self.running + [
                Entry("MTLCompilerService", 300, 0, "daemon idle", Self.of(60, age: 900)),
                Entry("Chess", 3_000, 0, "suspended", Self.of(60, age: 500)),
                Entry("Checkers", 3_000, 0, "suspended", Self.of(61, age: 900)),
                Entry("transcoder", 300, 0, "daemon idle", Self.of(61, age: 500)),
            ])
        #expect(Self.names(phone, nil) == ["Notes", "Radio", "Chess", "Checkers"])
    }

    @Test("where the report tells which processes the freezer takes, the others are no apps")
    func freezer() throws {
        func reason(_ word: String, _ coalition: Int) -> String {
            Self.of(coalition, "\"freeze_skip_reason:\" : \"\(word)\",")
        }
        var entries = [
            Entry("Chess", 3_000, 0, "suspended", reason("below-min-pages", 70)),
            Entry("Wallpapers", 300, 0, "suspended", reason("disabled", 71)),
            Entry("MobileCal", 300, 0, "suspended", reason("disabled", 72)),
        ]
        #expect(Self.names(try Self.phone(entries), nil) == ["Chess", "MobileCal"])
        entries[0].more = reason("disabled", 70)
        #expect(Self.names(try Self.phone(entries), nil) == ["Chess", "Wallpapers", "MobileCal"])
    }

    @Test(
        "names tell of extensions by whole words",
        arguments: [
            ("PodcastsWidget", ProcessKind.widget), ("GCWidgets", .widget), ("HomeWidgetLockScreen", .widget),
            ("HealthMentalHealthWidgetExtensio", .widget), ("Today Widget", .widget), ("Widgetsmith", nil),
            ("ArticleNotificationServiceExtens", .notificationService), ("SignalNSE", .notificationService),
            ("PacketTunnel", .packetTunnel), ("RebornTunnel", .packetTunnel), ("TunnelBear", nil),
            ("WireGuardNetworkExtension", .packetTunnel), ("packet-tunnel", .packetTunnel),
            ("CustomKeyboard", .keyboard), ("ShareExtension", .share), ("PhotoShare", .share), ("Shareholder", nil),
            ("VSAppIntents", .otherExtension), ("NewDeviceOutreachIntents_iOS", .otherExtension),
            ("PhotosFileProvider", .otherExtension), ("MusicFocusFilters", .otherExtension),
            ("MacinTalkAUSP", .otherExtension), ("InfographPoster", .otherExtension), ("Posterize", nil),
            ("PassbookWidgetsExtension-iPhone", .widget), ("NewsTag", .otherExtension), ("CoreAuthUI", .otherExtension),
            ("UserNotificationsUIThumbnailProv", .otherExtension), ("SafariViewService", .otherExtension),
            ("iSH", nil), ("LibTerm", nil), ("Files", nil), ("MobileNotes", nil), ("WhatsApp", nil), ("微信", nil),
            ("", nil),
        ] as [(String, ProcessKind?)])
    func words(name: String, kind: ProcessKind?) {
        #expect(ExtensionNames.kind(of: name) == kind)
    }

    // MARK: Real reports

    @Test(
        "real reports: who is in front, and how many apps there are",
        .enabled(if: !RealReports.files.isEmpty, "data: the shared reports are not beside the checkout"),
        arguments: RealReports.files)
    func real(file: URL) throws {
        let phone = try JetsamPhoneImport(path: file.path())
        let apps = Self.names(phone, nil)
        if file.lastPathComponent.contains("14.2") {
            #expect(phone.front?.name == "app" && apps.count == 21, "\(apps)")
            #expect(phone.members.filter { $0.kind == .widget }.allSatisfy { $0.host == nil })
            #expect(Self.host("com.apple.WebKit.WebContent", phone) == "TheEconomist-Lamarr")
        } else {
            #expect(apps == ["MobileCal", "MobileMail", "MobileSafari", "Snapchat"])
            #expect(phone.front?.name == "Snapchat")
        }
    }

    @Test(
        "a report of iOS 18.5: the home screen in front, four prewarmed apps",
        .enabled(if: FieldReports.exists, "data: the shared reports are not beside the checkout"))
    func field() throws {
        let phone = try JetsamPhoneImport(path: FieldReports.path("case01full.ips"))
        #expect(phone.front == nil && Self.names(phone, nil) == ["iSH", "LibTerm", "MobileNotes", "Files"])
        #expect(phone.members.filter { $0.kind == nil }.allSatisfy { $0.state == .prewarmed })
        let tunnel = try JetsamPhoneImport(path: FieldReports.path("case17.ips"))
        #expect(tunnel.front?.name == "MobileSafari" && Self.host("PacketTunnel", tunnel) == "VPNApp")
    }
}

/// Reports in the shared folder of cases from the field, if it is beside the checkout.
enum FieldReports {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/field/apple")

    static let exists = FileManager.default.fileExists(atPath: folder.path())

    static func path(_ name: String) -> String { folder.appending(path: name).path() }
}
