import Lifecycle
import Quantities
import Reclaim
import Scenario

/// What an import tells of a JetsamEvent report: five lines for people, and figures for programs.
public struct ReportDigest: Encodable, Sendable {
    /// A process that jetsam ended.
    public struct Ended: Encodable, Hashable, Sendable {
        public let process: String
        /// In the report's word.
        public let reason: String
    }

    public let formatVersion = 1
    public let product: String?
    public let system: String?
    public let processes: Int
    /// Names of the apps, in the report's order.
    public let apps: [String]
    /// Those of them that are only prewarmed.
    public let prewarmed: [String]
    /// Nil: the home screen is in front.
    public let appInFront: String?
    public let helpers: Int
    public let extensions: Int
    public let daemons: Int
    /// The device preset of the product; nil if there is none.
    public let device: String?
    public let pageSizeBytes: Int
    public let ceilingBytes: Int
    public let reservedBytes: Int
    /// What the scenario's processes hold.
    public let heldBytes: Int
    /// What is compressed: of that, and of memory that no process shows.
    public let compressedBytes: Int
    public let reportedAvailableBytes: Int
    /// When the scenario is in the report's state; nil: when the run begins.
    public let stateAtS: Double?
    /// The processes that jetsam ended, in the report's order.
    public let ended: [Ended]
    private let file: String

    private enum CodingKeys: String, CodingKey {
        case formatVersion, product, system, processes, apps, prewarmed, appInFront, helpers, extensions, daemons
        case device, pageSizeBytes, ceilingBytes, reservedBytes, heldBytes, compressedBytes, reportedAvailableBytes
        case stateAtS, ended
    }

    /// The digest of a scenario with every process.
    init(_ phone: JetsamPhoneImport) {
        let (report, members) = (phone.report, phone.members)
        let roles = members.map(\.kind)
        self.init(
            report, roles, apps: members.filter { $0.kind == nil }.map(\.name),
            prewarmed: members.filter { $0.state == .prewarmed }.map(\.name), front: phone.front?.name,
            device: (phone.device.preset?.name, phone.device.ceiling, phone.device.reserved),
            held: members.reduce(.zero) { $0 + $1.footprint },
            compressed: members.reduce(phone.unshown) { $0 + $1.compressed }, at: nil,
            ended: phone.victims.map { ($0.name, $0.process.reason) } + phone.late.map { ($0.name, $0.reason) })
    }

    /// The digest of a scenario with the apps alone.
    init(_ event: JetsamEventImport) {
        self.init(
            event.report, JetsamRoles(event.report).kinds, apps: event.apps.map(\.name),
            prewarmed: event.apps.filter(\.isPrewarmed).map(\.name), front: event.front?.name,
            device: (nil, event.device.ceiling, event.device.reserved),
            held: event.apps.reduce(.zero) { $0 + $1.footprint }, compressed: .zero, at: event.stateAt,
            ended: event.victims.map { ($0.name, $0.reason) })
    }

    private init(
        _ report: JetsamReport, _ kinds: [ProcessKind?], apps: [String], prewarmed: [String], front: String?,
        device: (name: String?, ceiling: ByteCount, reserved: ByteCount), held: ByteCount, compressed: ByteCount,
        at instant: TimeSpan?, ended: [(name: String, reason: String?)]
    ) {
        (product, system) = (report.product.map { onOneLine($0) }, report.system.map { onOneLine($0) })
        (self.apps, self.prewarmed, appInFront) = (apps, prewarmed, front)
        processes = report.processes.count
        helpers = kinds.count { $0?.family == .helper }
        extensions = kinds.count { $0?.family == .extension }
        daemons = kinds.count { $0?.family == .daemon }
        (self.device, ceilingBytes, reservedBytes) = (device.name, device.ceiling.bytes, device.reserved.bytes)
        (pageSizeBytes, heldBytes, compressedBytes) = (report.pageSize, held.bytes, compressed.bytes)
        reportedAvailableBytes = report.pages.available * report.pageSize
        stateAtS = instant.map { Double($0.microseconds) / 1_000_000 }
        self.ended = ended.map { Ended(process: onOneLine($0.name), reason: onOneLine($0.reason ?? "", atMost: 40)) }
        file = onOneLine(report.source.file.split(separator: "/").last.map(String.init) ?? "report")
    }

    // MARK: Words

    /// Five lines.
    public var text: String {
        func size(_ bytes: Int) -> String { ByteCount(bytes).readable }
        let told = [product, system].compactMap { $0 }
        let others = [
            (helpers, "helper", "helpers"), (extensions, "extension", "extensions"), (daemons, "daemon", "daemons"),
        ].map { $0.0.counted($0.1, $0.2) }
        let compressed = compressedBytes > 0 ? "; \(size(compressedBytes)) are compressed" : ""
        let ahead = prewarmed.isEmpty ? "" : "; prewarmed: \(ReportDigest.few(prewarmed))"
        return [
            "report  " + ([file] + told + [processes.counted("process", "processes")]).joined(separator: ", "),
            "front   \(appInFront ?? "the home screen"); "
                + "\(apps.count.counted("app")): \(ReportDigest.few(apps))\(ahead)",
            "others  " + others.joined(separator: ", "),
            "memory  \(size(ceilingBytes))\(device.map { " (\($0))" } ?? ""); "
                + "\(stateAtS == nil ? "processes" : "apps") hold \(size(heldBytes))\(compressed); "
                + "\(size(reportedAvailableBytes)) were available",
            "ended   " + endings,
        ].joined(separator: "\n")
    }

    /// Who was ended and why, reason by reason.
    private var endings: String {
        var reasons: [String] = []
        for end in ended where !reasons.contains(end.reason) { reasons.append(end.reason) }
        guard !reasons.isEmpty else { return "none: the report names no process that jetsam ended" }
        return reasons.map { reason in
            let names = ended.filter { $0.reason == reason }.map(\.process)
            return "\(ReportDigest.few(names, atMost: 4)): \(ReportDigest.words(for: reason))"
        }.joined(separator: "; ")
    }

    private static func few(_ names: [String], atMost most: Int = 8) -> String {
        let more = names.count > most ? " and \(names.count - most) more" : ""
        return names.prefix(most).joined(separator: ", ") + more
    }

    /// A reason of jetsam's in plain words, with its own word.
    static func words(for reason: String) -> String {
        KillCause(rawValue: reason).map { "\($0.words) (\(reason))" } ?? reason
    }
}
