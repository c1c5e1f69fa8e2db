import Foundation
import Lifecycle
import Memory
import Pressure
import Quantities
import Reclaim
import Scenario
import Simulation

/// A JetsamEvent report as a scenario that brings a device into the state which the report shows.
///
/// Every process that is an app is launched, the least recently used first, so that at `stateAt` the same apps are in
/// the same bands in the same order, each with its footprint. What is no app is part of the device's reserved memory.
public struct JetsamEventImport: Sendable {
    /// An app of the scenario.
    public struct App: Sendable {
        /// Its name in the scenario: valid and unique.
        public let name: String
        /// Its process in the report.
        public let process: JetsamReport.Process
        /// Processes in front beside it, of the same coalition: its memory includes theirs.
        public let helpers: [JetsamReport.Process]
        let standing: JetsamStanding
        /// In whole pages of a simulated device.
        public let footprint: ByteCount
        /// When it is tapped.
        let tapped: TimeSpan

        /// The band on today's scale in which it stands at `stateAt`.
        public var band: Int { standing.band.number }
    }

    public let report: JetsamReport
    /// In the order of launches, which is the order in which jetsam would end them, but for the one in front.
    public let apps: [App]
    /// When everybody is where the report shows them.
    public let stateAt: TimeSpan
    let device: JetsamDevice

    /// Reads the report at a path.
    ///
    /// - Throws: The file cannot be read, or its first fault with line and column.
    public init(path: String) throws(ScenarioFault) {
        try self.init(SourceText.read(path, as: "a JetsamEvent report"), file: path)
    }

    public init(_ bytes: [UInt8], file: String) throws(ScenarioFault) {
        report = try JetsamReport(bytes, file: file)
        let cast = JetsamCast(report)
        guard !cast.parts.isEmpty else {
            throw report.source.fault(
                at: report.listOffset,
                "none of the \(report.processes.count) processes is an app; expected some that are frontmost, "
                    + "background or suspended")
        }
        guard cast.parts.count <= RunPlan.mostApps else {
            throw report.source.fault(
                at: report.listOffset,
                "\(cast.parts.count) of the processes are apps; at most \(RunPlan.mostApps)")
        }
        var now = TimeSpan.zero
        var names = ImportedNames()
        apps = cast.parts.map { part in
            let tapped = now
            now += JetsamEventImport.turn(of: part.footprint)
            return App(
                name: names.name(for: part.process.name), process: part.process, helpers: part.helpers,
                standing: part.standing, footprint: part.footprint, tapped: tapped)
        }
        stateAt = now + JetsamEventImport.settling
        device = JetsamDevice(report, apps: apps.map(\.footprint))
        guard device.ceiling <= MemoryLimits.highestCeiling else {
            throw report.source.fault(
                at: report.listOffset,
                "the apps would need a device of \(device.ceiling.readable); at most \(MemoryLimits.highestCeiling)")
        }
    }

    /// A launch takes about 1.5 s and the filling of its memory, at 1 GiB/s; a little use follows.
    private static func turn(of footprint: ByteCount) -> TimeSpan {
        .seconds(Int64(2 + (footprint + .mebibytes(384)).bytes / ByteCount.mebibytes(512).bytes))
    }

    /// An app works 3 s off screen and is in band 20 for 2 s more before it is in band 0; what it freed has gone back
    /// to the device 10 s after that.
    static let settling = TimeSpan.seconds(14)

    /// Sizes are whole pages of a simulated device.
    static let page = 4_096

    /// A twentieth of what an app holds off screen is its cache, of which it had twice as much in front; a fifth is its
    /// scene's. Ours, like ordinary apps of the catalogue.
    static func cache(of footprint: ByteCount) -> ByteCount { ByteCount(footprint.bytes / page / 20 * page) }
    static func scene(of footprint: ByteCount) -> ByteCount { ByteCount(footprint.bytes / page / 5 * page) }

    /// A snapshot costs a buffer of the scene's size for a moment, 8 MiB at most.
    static func snapshot(of footprint: ByteCount) -> ByteCount { min(scene(of: footprint), .mebibytes(8)) }

    /// The app in front; nil: the home screen.
    var front: App? { apps.last.flatMap { $0.standing == .front ? $0 : nil } }

    /// The processes that jetsam ended.
    public var victims: [JetsamReport.Process] { report.processes.filter { $0.reason != nil } }

    /// What the report says, one figure per line: for people and for scripts.
    public var summary: String {
        func count(_ standings: (JetsamStanding) -> Bool) -> String {
            "\(apps.filter { standings($0.standing) }.count)"
        }
        let held = apps.reduce(ByteCount.zero) { $0 + $1.footprint }
        var rows = [
            ("processes", "\(report.processes.count)"), ("apps", "\(apps.count)"),
            ("apps_suspended", count { $0 == .suspended }),
            ("apps_background", count { $0 != .suspended && $0 != .front }),
            ("app_in_front", front?.name ?? "none"), ("page_size_bytes", "\(report.pageSize)"),
            ("ceiling_bytes", "\(device.ceiling.bytes)"), ("reserved_bytes", "\(device.reserved.bytes)"),
            ("apps_bytes", "\(held.bytes)"),
            ("reported_available_bytes", "\(report.pages.available * report.pageSize)"),
            ("state_at_s", Instant(microseconds: stateAt.microseconds).secondsText),
        ]
        rows += victims.map { ("ended", "\(onOneLine($0.name)), \(onOneLine($0.reason ?? ""))") }
        return importReport(rows)
    }
}

/// Who of a report plays in the scenario, in the order of entrance.
private struct JetsamCast {
    struct Part {
        var process: JetsamReport.Process
        var helpers: [JetsamReport.Process] = []
        var standing: JetsamStanding
        var footprint: ByteCount
    }

    var parts: [Part] = []

    init(_ report: JetsamReport) {
        for (process, standing) in zip(report.processes, report.standings) {
            guard let standing else { continue }
            parts.append(
                Part(
                    process: process, standing: standing,
                    footprint: ByteCount(process.pages * report.pageSize).roundedUp(
                        toMultipleOf: JetsamEventImport.page)))
        }
        gatherFront()
        // Who runs off screen enters after those who are suspended, whatever their bands were; who is in front, last.
        func rank(_ part: Part) -> Int { part.standing == .front ? .max : part.standing.band.number }
        let order = parts.indices.sorted { (rank(parts[$0]), $0) < (rank(parts[$1]), $1) }
        parts = order.map { parts[$0] }
    }

    /// One app only is in front: the first that is no helper of WebKit's, one that is frontmost before one that is only
    /// in the foreground. Others of its coalition are its helpers and become part of it; what else is on the screen
    /// keeps running behind it.
    private mutating func gatherFront() {
        let inFront = parts.indices.filter { parts[$0].standing == .front }
        let leaders = inFront.filter { !parts[$0].process.name.hasPrefix("com.apple.WebKit.") }
        let frontmost = leaders.first { parts[$0].process.states.contains("frontmost") }
        guard let leader = frontmost ?? leaders.first ?? inFront.first else { return }
        let coalition = parts[leader].process.coalition
        for index in inFront.reversed() where index != leader {
            if let coalition, parts[index].process.coalition == coalition {
                parts[leader].helpers.insert(parts[index].process, at: 0)
                parts[leader].footprint += parts[index].footprint
            } else {
                parts[index].standing = .running(.location)
            }
        }
        let merged = inFront.filter { $0 != leader && parts[$0].standing == .front }
        for index in merged.reversed() { parts.remove(at: index) }
    }
}

/// The device of a report.
struct JetsamDevice: Sendable {
    private(set) var ceiling: ByteCount
    /// What no app of the scenario holds and is not available: wired memory, the compressor, daemons.
    let reserved: ByteCount
    /// By how much the ceiling is above the report's RAM, because footprints count what was compressed at full size.
    let added: ByteCount
    /// By how much it is higher still, because all apps and what must be available do not fit otherwise.
    let widened: ByteCount
    /// By how much more is available than in the report, so that nobody is warned or ended on the way.
    let spared: ByteCount

    init(_ report: JetsamReport, apps: [ByteCount]) {
        let size = report.pageSize
        let page = JetsamEventImport.page
        let ram = ByteCount(report.pages.all * size)
        let reported = ByteCount(report.pages.available * size)
        let held = apps.reduce(.zero, +)
        let passing = JetsamDevice.passing(apps)
        let uncompressed = ByteCount(report.pages.wired * size) + held + reported
        ceiling = max(ram, uncompressed.roundedUp(toMultipleOf: page))
        added = ceiling - ram
        var available = reported
        // A larger device needs more available on it: that converges at once, for the share is small.
        for _ in 0..<16 {
            let least = JetsamDevice.leastAvailable(on: ceiling) + passing
            available = max(reported, least.roundedUp(toMultipleOf: 1 << 20))
            let missing = held + available - ceiling
            guard missing > .zero else { break }
            ceiling += missing.roundedUp(toMultipleOf: page)
        }
        widened = ceiling - added - ram
        spared = available - reported
        reserved = max(.zero, ByteCount((ceiling - held - available).bytes / page * page))
    }

    /// The most that apps give up within 10 s of leaving the screen, for so long freed pages stay with them.
    private static func passing(_ apps: [ByteCount]) -> ByteCount {
        let each = apps.map { JetsamEventImport.cache(of: $0) + JetsamEventImport.snapshot(of: $0) }
        // An app follows the other after 2 s at the soonest.
        return each.indices.map { each[$0..<min($0 + 6, each.count)].reduce(.zero, +) }.max() ?? .zero
    }

    /// Above jetsam's threshold for idle apps and the monitor's for warnings, by one hundredth of the RAM. Who is
    /// warned drops its cache, and would not hold what it held.
    private static func leastAvailable(on ceiling: ByteCount) -> ByteCount {
        max(ceiling * JetsamThresholds.row(for: ceiling).idle, MonitorSettings.ios.warning.enter.bytes(of: ceiling))
            + ceiling * .percent(1)
    }
}
