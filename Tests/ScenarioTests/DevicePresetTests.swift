import Foundation
import Memory
import Plan
import Pressure
import Quantities
import Reclaim
import Simulation
import Testing
import Workload

@testable import Scenario

@Suite("devices by name")
struct DevicePresetTests {
    /// A row of the table of facts about devices. Sizes are in MiB.
    struct Row: CustomTestStringConvertible, Sendable {
        let name, os: String
        let ceiling: Int
        let page: DevicePage
        let cores: [Int]
        let reserved: (without: Int, with: Int)
        let limit, entitled: Int?
        /// Keyboard, widget, share, tunnel, notification.
        let extensions: [Int]
        /// The ratio in hundredths.
        let ratio: Int64
        let marks: [Int]
        let slots: Int
        let policy, monitor: String
        let background: Int64

        var testDescription: String { name }
    }

    static let rows = [
        Row(
            name: "iphone-6s", os: "iOS 12", ceiling: 2_016, page: .large, cores: [2, 0], reserved: (320, 700),
            limit: 1_400, entitled: nil, extensions: [48, 16, 120, 15, 16], ratio: 270, marks: [101, 202, 302],
            slots: 0, policy: "jetsam 8792", monitor: "ios", background: 180),
        Row(
            name: "iphone-x", os: "iOS 12", ceiling: 2_785, page: .large, cores: [2, 4], reserved: (450, 1_110),
            limit: 1_400, entitled: nil, extensions: [48, 16, 120, 15, 16], ratio: 270, marks: [139, 279, 418],
            slots: 20, policy: "jetsam 8792", monitor: "ios", background: 180),
        Row(
            name: "iphone-se-2", os: "iOS 15", ceiling: 2_813, page: .large, cores: [2, 4], reserved: (450, 1_400),
            limit: 1_850, entitled: nil, extensions: [77, 30, 110, 50, 24], ratio: 270, marks: [141, 281, 422],
            slots: 20, policy: "jetsam 8792", monitor: "ios", background: 30),
        Row(
            name: "iphone-11", os: "iOS 14", ceiling: 3_844, page: .large, cores: [2, 4], reserved: (620, 1_940),
            limit: 2_098, entitled: nil, extensions: [77, 30, 120, 15, 24], ratio: 266, marks: [154, 346, 577],
            slots: 20, policy: "jetsam 8792", monitor: "ios", background: 30),
        Row(
            name: "iphone-13", os: "iOS 18.4", ceiling: 3_700, page: .large, cores: [2, 4], reserved: (590, 1_850),
            limit: 2_098, entitled: nil, extensions: [77, 30, 120, 50, 24], ratio: 250, marks: [148, 333, 555, 666],
            slots: 20, policy: "jetsam 11417", monitor: "ios", background: 30),
        Row(
            name: "iphone-14", os: "iOS 18.5", ceiling: 5_724, page: .large, cores: [2, 4], reserved: (920, 2_580),
            limit: 3_072, entitled: nil, extensions: [77, 30, 120, 50, 24], ratio: 270, marks: [229, 515, 859, 1_030],
            slots: 20, policy: "jetsam 11417", monitor: "ios", background: 30),
        Row(
            name: "iphone-15-pro", os: "iOS 18.5", ceiling: 7_600, page: .large, cores: [2, 4],
            reserved: (1_220, 3_420), limit: 3_376, entitled: 6_144, extensions: [90, 30, 180, 50, 24], ratio: 280,
            marks: [304, 608, 912, 1_216], slots: 20, policy: "jetsam 11417", monitor: "ios", background: 30),
        Row(
            name: "ipad-pro-6gb", os: "iPadOS 18.5", ceiling: 5_701, page: .large, cores: [4, 4],
            reserved: (910, 2_560), limit: 4_608, entitled: nil, extensions: [90, 30, 120, 50, 24], ratio: 270,
            marks: [228, 513, 855, 1_026], slots: 20, policy: "jetsam 11417", monitor: "ios", background: 30),
        Row(
            name: "ipad-pro-16gb", os: "iPadOS 18.5", ceiling: 15_400, page: .large, cores: [4, 4],
            reserved: (2_460, 5_390), limit: 5_120, entitled: 15_400, extensions: [90, 30, 180, 50, 24], ratio: 270,
            marks: [616, 1_232, 1_848, 2_464], slots: 36, policy: "jetsam 11417", monitor: "ios", background: 30),
        Row(
            name: "pixel-6", os: "Android 14", ceiling: 7_600, page: .small, cores: [2, 4, 2],
            reserved: (1_200, 2_800), limit: nil, entitled: nil, extensions: [], ratio: 280, marks: [], slots: 0,
            policy: "lmkd", monitor: "android", background: 10),
        Row(
            name: "android-go-2gb", os: "Android 13", ceiling: 1_850, page: .small, cores: [8, 0],
            reserved: (450, 900), limit: nil, entitled: nil, extensions: [], ratio: 280, marks: [], slots: 0,
            policy: "lmkd", monitor: "android", background: 600),
        Row(
            name: "chromebook-4gb", os: "ChromeOS M126", ceiling: 3_850, page: .small, cores: [4, 0],
            reserved: (700, 1_300), limit: nil, entitled: nil, extensions: [], ratio: 270, marks: [], slots: 0,
            policy: "ladder", monitor: "chromeos", background: 30),
    ]

    @Test("every preset has a row, and every row a preset")
    func complete() {
        #expect(DevicePreset.all.map(\.name) == Self.rows.map(\.name))
    }

    @Test("each has the figures of its row", arguments: rows)
    func figures(row: Row) throws {
        let preset = try #require(DevicePreset.named(row.name))
        let device = preset.device
        func mebibytes(_ size: ByteCount?) -> Int? { size.map { Int((Double($0.bytes) / 1_048_576).rounded()) } }
        #expect(preset.os == row.os && device.os == row.os && device.like == row.name)
        #expect(mebibytes(device.ceiling) == row.ceiling && device.page == row.page)
        let layout = device.cores
        #expect([layout.performance, layout.efficiency] + layout.further.map(\.count) == row.cores)
        #expect(layout.efficiency == 0 || layout.efficiencySpeed == .percent(30))
        #expect(mebibytes(device.reserved) == row.reserved.without)
        #expect(mebibytes(preset.reservedWithCompressor.value) == row.reserved.with)
        #expect(mebibytes(device.appLimit) == row.limit && mebibytes(preset.entitledLimit?.value) == row.entitled)
        #expect(preset.extensionLimits.map { mebibytes($0.limit.value) } == row.extensions)
        #expect(preset.compressor.ratio.value == .percent(row.ratio) && preset.freezer.slots.value == row.slots)
        let marks = [device.marks.critical, device.marks.idle, device.marks.soft, device.marks.reaper]
        #expect(marks.compactMap { mebibytes($0?.bytes(of: device.ceiling)) } == row.marks)
        let policy = preset.policy.value
        let kernel = policy.parameters.first { $0.name == "kernel" }.map { " \($0.value)" } ?? ""
        #expect(policy.name + kernel == row.policy && preset.monitor.value.preset == row.monitor)
        #expect(preset.backgroundTime.value == .seconds(row.background))
        let shareOfLimit = row.limit.map { Int64(($0 - 100) * 100 / $0) }
        #expect(device.standardLimit?.near == device.appLimit.map { $0 * .percent(shareOfLimit ?? 0) })
    }

    @Test("the marks are those that the kernel's own table has for this RAM", arguments: rows)
    func marksOfTheTable(row: Row) throws {
        let preset = try #require(DevicePreset.named(row.name))
        guard let marks = preset.marks?.value else { return }
        let kernel = try #require(JetsamKernel(rawValue: String(row.policy.dropFirst("jetsam ".count))))
        let table = JetsamThresholds.row(for: preset.ceiling.value, in: kernel)
        #expect(marks.critical == .share(table.critical) && marks.idle == .share(table.idle))
        #expect(marks.soft == .share(table.soft) && (marks.reaper ?? .share(.zero)) == .share(table.reaper))
    }

    @Test("every figure has a source; what nobody measured or wrote down is called a guess or an assumption")
    func sources() throws {
        for preset in DevicePreset.all {
            for fact in preset.facts { #expect(!fact.source.isEmpty && !fact.value.isEmpty, "\(preset.name) \(fact)") }
        }
        func confidence(_ name: String, _ fact: String) throws -> Confidence {
            let preset = try #require(DevicePreset.named(name))
            return try #require(preset.facts.first { $0.name == fact }).confidence
        }
        #expect(try confidence("iphone-11", "device.reserved") == .assumption)
        #expect(try confidence("iphone-11", "reserved without a compressor") == .assumption)
        #expect(try confidence("iphone-11", "compressor ratio") == .assumption)
        #expect(try confidence("iphone-13", "device.reserved") == .guess)
        #expect(try confidence("iphone-13", "device.app_limit") == .measured)
        #expect(try confidence("iphone-14", "device.app_limit") == .guess)
        #expect(try confidence("iphone-13", "device.marks.soft") == .documented)
        #expect(try confidence("ipad-pro-16gb", "device.app_limit") == .reported)
    }

    // MARK: The page

    private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/plimsoll/plimsoll.docc/Devices.md")

    private static func tableRow(_ preset: DevicePreset) -> String {
        func value(_ name: String) -> String { preset.facts.first { $0.name == name }?.value ?? "none" }
        let marks = ["critical", "idle", "soft", "reaper"].map { value("device.marks.\($0)") }.filter { $0 != "none" }
        let shares = marks.map { $0.prefix { $0 != " " } }.joined(separator: ", ")
        let layout = preset.cores.value
        let slow = layout.further.map { "\($0.count)" } + (layout.efficiency > 0 ? ["\(layout.efficiency)"] : [])
        let cells = [
            "`\(preset.name)`", preset.models, preset.os, value("device.ceiling"), value("device.reserved"),
            (["\(layout.performance)"] + slow).joined(separator: " + "), value("device.app_limit"),
            shares.isEmpty ? "none" : shares, value("policy"),
        ]
        return "| \(cells.joined(separator: " | ")) |"
    }

    /// `PLIMSOLL_RECORD=1` rewrites the table.
    @Test("the page has a row for every device, with its figures")
    func documented() throws {
        let lines = try String(contentsOf: Self.page, encoding: .utf8).components(separatedBy: "\n")
        let head = try #require(lines.firstIndex { $0.hasPrefix("| name |") }) + 2
        let end = lines[head...].firstIndex { !$0.hasPrefix("|") } ?? head
        let rows = DevicePreset.all.map(Self.tableRow)
        if ProcessInfo.processInfo.environment["PLIMSOLL_RECORD"] == "1" {
            let fresh = lines[..<head] + rows + lines[end...]
            return try fresh.joined(separator: "\n").write(to: Self.page, atomically: true, encoding: .utf8)
        }
        #expect(Array(lines[head..<end]) == rows)
        for confidence in Confidence.allCases {
            #expect(lines.contains("| \(confidence.rawValue) | \(confidence.meaning) |"))
        }
    }

    // MARK: In a scenario

    private static func text(_ device: String, _ more: String = "") -> String {
        """
        plimsoll: 1
        name: t
        duration: 1min
        device: \(device)
        \(more)
        apps: [{ name: a, like: mail }]
        """
    }

    private static func plan(_ device: String, _ more: String = "", _ sets: [String] = []) throws -> RunPlan {
        try Samples.load(text(device, more), Overrides(sets: sets)).get()
    }

    @Test("with a compressor it reserves what the system really occupies; the scenario's own keys win", arguments: rows)
    func withCompressor(row: Row) throws {
        func device(_ keys: String) throws -> Device {
            try Self.plan("{ like: \(row.name)\(keys) }").device
        }
        func mebibytes(_ size: ByteCount) -> Int {
            Int((Double(size.bytes) / 1_048_576).rounded())
        }
        let preset = try #require(DevicePreset.named(row.name))
        let on = try device(", compressor: {}")
        #expect(mebibytes(on.reserved) == row.reserved.with && on.appLimit == preset.device.appLimit)
        let input = try #require(on.compressor?.input)
        #expect(input == preset.compressor.holds.value.share(of: on.ceiling))
        #expect(on.compressor?.pool == .one)
        #expect(try device(", compressor: { input: 50%, pool: 25% }").compressor?.input == .percent(50))
        #expect(try mebibytes(device(", compressor: { pool: 25% }, reserved: 333MiB").reserved) == 333)
        let off = try device(", compressor: off")
        #expect(off.compressor == nil && mebibytes(off.reserved) == row.reserved.without)
        // Apple's devices have theirs, the others only if the scenario asks for it.
        #expect(try device("") == (preset.marks == nil ? off : on))
    }

    @Test("an option beats the scenario, the scenario the preset, the preset the default")
    func precedence() throws {
        let preset = try Self.plan("{ like: iphone-13 }")
        #expect(preset.device.ceiling == .mebibytes(3_700))
        #expect(preset.device.reclaimRate == Device(ceiling: .zero).reclaimRate)
        #expect(preset.policy == PolicySettings(Jetsam.self) && preset.monitor == .iosRatio)
        #expect(preset.device.kernel == .xnu11417 && preset.device.freezer?.slots == 20)
        #expect(preset.device.fileCache?.system == .mebibytes(777))
        #expect(preset.device.systemPageable == .mebibytes(653) && preset.device.systemCompressed == .mebibytes(457))
        let own = try Self.plan("{ like: iphone-13, ceiling: 2GiB, app_limit: none, marks: { soft: 10% } }")
        #expect(own.device.ceiling == .gibibytes(2) && own.device.appLimit == nil)
        #expect(own.device.marks.soft == .percent(10) && own.device.marks.idle == .percent(9))
        #expect(own.device.reserved == .mebibytes(1_850))
        let sets = ["device.ceiling=1950MiB", "device.marks.idle=7%"]
        let set = try Self.plan("{ like: iphone-13, ceiling: 2GiB }", "", sets)
        #expect(set.device.ceiling == .mebibytes(1_950) && set.device.marks.idle == .percent(7))
        #expect(set.device.marks.soft == .percent(15))
        let other = try Self.plan("{ like: iphone-13 }", "", ["device.like=iphone-6s"])
        #expect(other.device.ceiling == .mebibytes(2_016) && other.limits.backgroundTime == .seconds(180))
        #expect(try Self.plan("{ like: none, ceiling: 1GiB }").device == Device(ceiling: .gibibytes(1)))
    }

    @Test("without a compressor or a kernel, the policy states the release, and nothing else of the kernel is left")
    func withoutKernel() throws {
        for keys in ["compressor: off", "kernel: none"] {
            let plan = try Self.plan("{ like: iphone-13, \(keys) }")
            #expect(plan.policy == DevicePreset.named("iphone-13")?.policy.value && plan.monitor == .ios)
            #expect(plan.device.kernel == nil && plan.device.freezer == nil)
            #expect(plan.device.systemPageable == .zero && plan.device.systemCompressed == .zero)
        }
        // What the scenario says decides what else is there.
        #expect(try Self.plan("{ like: iphone-13, compressor: { codec: lz4 } }").device.freezer == nil)
        #expect(try Self.plan("{ like: iphone-13, reserved: 1GiB }").device.systemPageable == .zero)
        #expect(try Self.plan("{ like: iphone-13, kernel: 8792 }").device.kernel == .xnu8792)
        #expect(try Self.plan("{ like: iphone-11 }").device.freezer == nil)
        let tablet = try #require(try Self.plan("{ like: ipad-pro-16gb }").device.freezer)
        #expect(tablet.slots == 36 && tablet.budget == nil && tablet.store == .gibibytes(16))
    }

    @Test(
        "what a device by name lacks is stated where the preset has it",
        arguments: [
            "freezer: off", "kernel: none", "system_pageable: 0B, system_compressed: 0B", "file_cache: { system: 0B }",
            "file_cache: off", "compressor: off", "reserved: 1GiB", "compressor: { codec: lz4 }",
        ])
    func stated(keys: String) throws {
        let plan = try Self.plan("{ like: iphone-13, \(keys) }")
        #expect(try Samples.load(EffectiveScenario.yaml(of: plan)).get() == plan)
    }

    @Test("an iPhone shows one window per app, and from iOS 14 on a call is a banner; the scenario's word comes first")
    func windowsAndCalls() throws {
        for preset in DevicePreset.all {
            let plan = try Self.plan("{ like: \(preset.name) }")
            #expect(plan.device.windows == (preset.name.hasPrefix("iphone") ? .one : .many), "\(preset.name)")
            let isOld = preset.marks == nil || ["iphone-6s", "iphone-x"].contains(preset.name)
            #expect(plan.lifecycle.call == (isOld ? .covers : .banner), "\(preset.name)")
        }
        let own = try Self.plan("{ like: iphone-13, windows: many }", "lifecycle: { call: covers }")
        #expect(own.device.windows == .many && own.lifecycle.call == .covers)
        let plain = try Self.plan("{ ceiling: 1GiB }")
        #expect(plain.device.windows == .many && plain.lifecycle.call == .covers)
    }

    @Test("the preset names the policy and the monitor of a scenario that names none")
    func policyAndMonitor() throws {
        let pixel = try Self.plan("{ like: pixel-6 }")
        #expect(pixel.policy.name == "lmkd" && pixel.monitor == .android && pixel.limits.backgroundTime == .seconds(10))
        let named = try Self.plan("{ like: pixel-6 }", "policy: lru\nmonitor: { preset: brisk }")
        #expect(named.policy == PolicySettings(LRU.self) && named.monitor == .brisk)
        // Without a name, the parameters are those of the preset's policy, and the preset's stay.
        let part = try Self.plan("{ like: iphone-11 }", "", ["policy.parameters.soft=20%", "monitor.interval=1s"])
        #expect(part.policy.parameters.first { $0.name == "soft" }?.value == .ratio(.percent(20)))
        #expect(part.policy.parameters.first { $0.name == "kernel" }.map { "\($0.value)" } == "table")
        #expect(part.monitor.preset == "ios-ratio" && part.monitor.interval == .seconds(1))
        let chosen = try Self.plan("{ like: iphone-11 }", "policy: jetsam")
        #expect(chosen.policy == PolicySettings(Jetsam.self), "a named policy has its own defaults")
        let rules = try Self.plan(
            "{ like: iphone-11 }", "policy: { rules: [{ name: r, when: available < 10%, action: terminate }] }")
        #expect(rules.policy.name == "ladder" && rules.policy.rules.count == 1)
        let tabs = try Self.plan("{ like: chromebook-4gb }")
        #expect(tabs.policy.title == "chromeos-tabs" && tabs.policy.rules.map(\.name) == ["discard", "in-need"])
    }

    @Test("the presets with Linux have its release, and its kernel stands behind the policy unless told otherwise")
    func kernelOOM() throws {
        let releases: [String: LinuxKernel] = [
            "pixel-6": .linux5x10, "android-go-2gb": .linux5x4, "chromebook-4gb": .linux5x15,
        ]
        for preset in DevicePreset.all {
            let device = try Self.plan("{ like: \(preset.name) }").device
            #expect(device.fallback.rule == (preset.linux == nil ? .requester : .kernelOOM), "\(preset.name)")
            #expect(device.fallback.linux == releases[preset.name] ?? .standard, "\(preset.name)")
            #expect(device.size(ofRAM: device.ceiling).linux == device.fallback.linux, "\(preset.name)")
        }
        let own = try Self.plan("{ like: pixel-6, fallback: requester, linux: 4.19 }").device
        #expect(own.fallback == DeviceFallback(.requester, linux: .linux4x19))
        let plain = try Self.plan("{ ceiling: 1GiB }").device
        #expect(plain.fallback == DeviceFallback())
    }

    @Test("the effective scenario spells everything out and loads as the same plan", arguments: rows)
    func effective(row: Row) throws {
        for more in ["", "scale: 25%"] {
            let plan = try Self.plan("{ like: \(row.name) }", more)
            let text = EffectiveScenario.yaml(of: plan)
            #expect(text.contains("like: \(row.name)") && text.contains("ceiling: "))
            for key in ["reserved", "cores", "page", "app_limit", "marks", "os", "name"] {
                #expect(text.contains("\n  \(key):"), "\(key)")
            }
            #expect(!text.contains("\nscale:"))
            #expect(try Samples.load(text).get() == plan)
        }
    }

    // MARK: Scale

    @Test("the scenario's scale applies after the preset, and the option multiplies it", arguments: rows)
    func scale(row: Row) throws {
        let whole = try Self.plan("{ like: \(row.name) }")
        let quarter = try Self.plan("{ like: \(row.name) }", "scale: 25%")
        #expect(quarter == whole.scaled(by: .percent(25)))
        #expect(quarter.device.ceiling == whole.device.ceiling * .percent(25) && quarter.device.scale == .percent(25))
        #expect(quarter.device.appLimit == whole.device.appLimit.map { $0 * .percent(25) })
        #expect(quarter.device.meantCeiling == whole.device.ceiling)
        let again = try Samples.load(
            Self.text("{ like: \(row.name) }", "scale: 25%"), Overrides(scale: .percent(50))
        ).get()
        #expect(again.device.scale == Ratio(partsPerMillion: 125_000))
        #expect(again.device.ceiling == whole.device.ceiling * Ratio(partsPerMillion: 125_000))
        #expect(try Self.plan("{ like: \(row.name) }", "scale: 25%", ["scale=50%"]).device.scale == .percent(50))
    }

    @Test("a scale that makes the device too small is reported where it is written")
    func smallScale() {
        let faults = Samples.faults(Self.text("{ ceiling: 90MiB }", "scale: 1%"))
        #expect(faults.count == 1 && faults[0].contains("scale: the ceiling of 90MiB would be"), "\(faults)")
        #expect(Samples.faults(Self.text("{ ceiling: 1GiB }", "scale: 0%")).count == 1)
    }
}
