import Foundation
import Lifecycle
import Memory
import Plan
import Pressure
import Quantities
import Reclaim
import Scenario
import Simulation

/// Turns a JetsamEvent report into a scenario that brings a device into the state in the report.
///
/// The scenario launches every process that is an app, least recently used first, so that at `stateAt` the same apps
/// are in the same bands in the same order, each with its footprint. All other processes are part of the device's
/// reserved memory.
public struct JetsamEventImport: Sendable {
    /// An app of the scenario.
    public struct App: Sendable {
        /// Its name in the scenario: valid and unique.
        public let name: String
        /// The process in the report.
        public let process: JetsamReport.Process
        /// Other processes in front that belong to the same coalition. The app's memory includes theirs.
        public let helpers: [JetsamReport.Process]
        let standing: JetsamStanding
        /// Whether the system has only begun its launch.
        let isPrewarmed: Bool
        /// The footprint in whole pages of a simulated device.
        public let footprint: ByteCount
        /// When the user taps it.
        let tapped: TimeSpan

        /// The app's band at `stateAt`, on today's scale.
        public var band: Int { standing.band.number }
    }

    /// The report that the scenario reproduces.
    public let report: JetsamReport
    /// The apps in the order of launches. Jetsam would end them in this order, except for the app in front.
    public let apps: [App]
    /// When every app is in the state that the report shows.
    public let stateAt: TimeSpan
    let device: JetsamDevice

    /// Reads the report at a path.
    ///
    /// - Throws: Why the file cannot be read, or its first fault with line and column.
    public init(path: String) throws(ScenarioFault) {
        try self.init(SourceText.read(path, as: "a JetsamEvent report"), file: path)
    }

    /// Reads a report's bytes.
    ///
    /// - Parameter file: The report's name, for messages.
    /// - Throws: The first fault, with line and column.
    public init(_ bytes: [UInt8], file: String) throws(ScenarioFault) {
        let report = try JetsamReport(bytes, file: file)
        self.report = report
        let cast = JetsamCast(report)
        guard !cast.parts.isEmpty else {
            throw report.source.fault(
                at: report.listOffset,
                "no app among \(report.processes.count.counted("process", "processes")); expected some that are "
                    + "frontmost, background or suspended")
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
                standing: part.standing, isPrewarmed: report.isPrewarmed(part.process), footprint: part.footprint,
                tapped: tapped)
        }
        stateAt = now + JetsamEventImport.settling
        device = JetsamDevice(report, apps: apps.map(\.footprint))
        guard device.ceiling <= MemoryLimits.highestCeiling else {
            throw report.source.fault(
                at: report.listOffset,
                "the apps would need a device of \(device.ceiling.readable); at most \(MemoryLimits.highestCeiling)")
        }
    }

    /// The time between two taps: a launch takes about 1.5 s, then the app fills its memory at 1 GiB/s, then a little
    /// use follows.
    private static func turn(of footprint: ByteCount) -> TimeSpan {
        .seconds(Int64(2 + (footprint + .mebibytes(384)).bytes / ByteCount.mebibytes(512).bytes))
    }

    /// An app works for 3 s off screen and stays in band 20 for 2 s more before it enters band 0. Freed memory returns
    /// to the device 10 s after that.
    static let settling = TimeSpan.seconds(14)

    /// The page size of a simulated device, in bytes; sizes are whole pages.
    static let page = 4_096

    /// An app's cache off screen: a twentieth of its footprint. In front it has twice as much. The shares of cache and
    /// scene are our choice and resemble ordinary apps of the catalogue.
    static func cache(of footprint: ByteCount) -> ByteCount { ByteCount(footprint.bytes / page / 20 * page) }
    /// The scene: a fifth of the footprint.
    static func scene(of footprint: ByteCount) -> ByteCount { ByteCount(footprint.bytes / page / 5 * page) }

    /// A snapshot briefly needs a buffer of the scene's size, 8 MiB at most.
    static func snapshot(of footprint: ByteCount) -> ByteCount { min(scene(of: footprint), .mebibytes(8)) }

    /// The app in front, or nil for the home screen.
    var front: App? { apps.last.flatMap { $0.standing == .front ? $0 : nil } }

    /// The processes that jetsam ended.
    public var victims: [JetsamReport.Process] { report.processes.filter { $0.reason != nil } }

    /// What the report says, for people and programs.
    public var digest: ReportDigest { ReportDigest(self) }
}

/// The processes of a report that become apps of the scenario, in the order of launches.
private struct JetsamCast {
    struct Part {
        var process: JetsamReport.Process
        var helpers: [JetsamReport.Process] = []
        var standing: JetsamStanding
        var footprint: ByteCount
    }

    var parts: [Part] = []

    init(_ report: JetsamReport) {
        let roles = JetsamRoles(report)
        let standings = report.standings(of: roles)
        func part(_ place: Int) -> Part? {
            let process = report.processes[place]
            let footprint = ByteCount(process.pages * report.pageSize)
            return standings[place].map {
                Part(
                    process: process, standing: $0,
                    footprint: footprint.roundedUp(toMultipleOf: JetsamEventImport.page))
            }
        }
        let places = report.processes.indices.filter { roles.kinds[$0] == nil }
        let inFront = places.filter { standings[$0] == .front }
        let front = inFront.first { report.processes[$0].states.contains("frontmost") } ?? inFront.first
        for place in places {
            guard var app = part(place) else { continue }
            if place == front {
                let helpers = report.processes.indices.filter {
                    roles.hosts[$0] == front && roles.kinds[$0]?.family == .helper && standings[$0] == .front
                }
                for helper in helpers.compactMap(part) {
                    app.helpers.append(helper.process)
                    app.footprint += helper.footprint
                }
            } else if app.standing == .front {
                // What else is on the screen runs behind it.
                app.standing = .running(.location)
            }
            parts.append(app)
        }
        // Apps that run off screen are launched after the suspended ones, whatever their bands were, and the app in
        // front last.
        func rank(_ part: Part) -> Int { part.standing == .front ? .max : part.standing.band.number }
        let order = parts.indices.sorted { (rank(parts[$0]), $0) < (rank(parts[$1]), $1) }
        parts = order.map { parts[$0] }
    }
}

/// The device of a report, with the memory it needs for the scenario.
struct JetsamDevice: Sendable {
    private(set) var ceiling: ByteCount
    /// Memory that is neither available nor held by an app of the scenario: wired memory, the compressor, daemons.
    let reserved: ByteCount
    /// How far the ceiling exceeds the report's RAM, because footprints count compressed memory at full size.
    let added: ByteCount
    /// How much further the ceiling is raised if the apps and the necessary available memory do not fit otherwise.
    let widened: ByteCount
    /// How much more memory is available than in the report, so that no app is warned or ended before `stateAt`.
    let spared: ByteCount

    /// - Parameter stands: Whether the apps are there when the run begins, and need not be launched.
    init(_ report: JetsamReport, apps: [ByteCount], stands: Bool = false) {
        let size = report.pageSize
        let page = JetsamEventImport.page
        let ram = ByteCount(report.pages.all * size)
        let reported = ByteCount(report.pages.available * size)
        let held = apps.reduce(.zero, +)
        let passing = stands ? .zero : JetsamDevice.passing(apps)
        let uncompressed = ByteCount(report.pages.wired * size) + held + reported
        ceiling = max(ram, uncompressed.roundedUp(toMultipleOf: page))
        added = ceiling - ram
        var available = reported
        // A larger device needs more available memory, so the size is computed iteratively. This converges quickly,
        // because the share is small.
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

    /// The most memory that apps may have freed but not yet returned: freed pages stay with an app for 10 s after it
    /// leaves the screen.
    private static func passing(_ apps: [ByteCount]) -> ByteCount {
        let each = apps.map { JetsamEventImport.cache(of: $0) + JetsamEventImport.snapshot(of: $0) }
        // Apps follow each other at intervals of at least 2 s.
        return each.indices.map { each[$0..<min($0 + 6, each.count)].reduce(.zero, +) }.max() ?? .zero
    }

    /// One hundredth of RAM above two thresholds: jetsam's for idle apps and the monitor's for warnings. A warned app
    /// would drop its cache and no longer have the report's footprint.
    private static func leastAvailable(on ceiling: ByteCount) -> ByteCount {
        let shares = JetsamKernel.allCases.map { JetsamThresholds.row(for: ceiling, in: $0).idle }
        return max(ceiling * (shares.max() ?? .zero), MonitorSettings.ios.warning.enter.bytes(of: ceiling))
            + ceiling * .percent(1)
    }
}
