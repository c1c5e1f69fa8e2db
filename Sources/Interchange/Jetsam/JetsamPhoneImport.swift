import Lifecycle
import Memory
import Plan
import Quantities
import Scenario
import Simulation

/// Turns a JetsamEvent report into a scenario in which every process of the report is alive when the run begins: in its
/// band, in the report's order, with its footprint.
public struct JetsamPhoneImport: Sendable {
    /// A process of the scenario.
    public struct Member: Sendable {
        /// Its name in the scenario: valid and unique.
        public let name: String
        /// The process in the report.
        public let process: JetsamReport.Process
        /// What it is if it is no app.
        public let kind: ProcessKind?
        /// The name of the app that it belongs to.
        public let host: String?
        /// What it does at the start.
        public let state: StartedProcess.State
        /// Why an app runs off screen; nil: it does not, or it only finishes something.
        let runsFor: BackgroundMode?
        /// Its band on today's scale.
        public let band: Int
        /// Its footprint in whole pages of a simulated device.
        public let footprint: ByteCount
        /// The part of it that is compressed.
        public let compressed: ByteCount
        /// How long it has been in its place; the earlier in the report, the longer.
        let idle: TimeSpan
        let age: TimeSpan
    }

    /// The report that the scenario reproduces, with the processes that lived when it was begun.
    public let report: JetsamReport
    /// Processes that were launched after the report was begun, and ended. They are no part of the state.
    public let late: [JetsamReport.Process]
    /// Every process, in the report's order.
    public let members: [Member]
    let device: PhoneDevice
    /// Compressed memory that no process of the report shows; zero without a compressor.
    let unshown: ByteCount
    /// The name of the process that holds it.
    let unshownName: String
    /// The name of the app that takes memory in a replay.
    let demandName: String

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
        let (report, late) = try JetsamReport(bytes, file: file).atItsMoment
        (self.report, self.late) = (report, late)
        guard !report.processes.isEmpty, report.processes.count <= RunPlan.mostApps else {
            throw report.source.fault(
                at: report.listOffset,
                "\(report.processes.count) processes; expected 1 to \(RunPlan.mostApps)")
        }
        let cast = PhoneCast(report)
        guard cast.kinds.contains(where: { $0 == nil }) else {
            throw report.source.fault(
                at: report.listOffset,
                "no app among \(report.processes.count.counted("process", "processes")); expected some that are "
                    + "frontmost, background or suspended")
        }
        let shares = CompressedShares(report)
        var names = ImportedNames()
        let members = cast.members(report, shares, &names)
        (unshownName, demandName) = (names.name(for: "memory of no process"), names.name(for: "memory demand"))
        self.members = members
        let page = JetsamEventImport.page
        let hidden = ByteCount((shares?.unshown ?? 0) * report.pageSize / page * page)
        unshown = hidden
        let held = members.reduce(ByteCount.zero) { $0 + $1.footprint }
        let compressed = members.reduce(hidden) { $0 + $1.compressed }
        device =
            shares.map { PhoneDevice(report, $0, resident: held + hidden - compressed, compressed: compressed) }
            ?? PhoneDevice(report, apps: members.map(\.footprint))
        guard device.ceiling <= MemoryLimits.highestCeiling else {
            throw report.source.fault(
                at: report.listOffset,
                "the processes would need a device of \(device.ceiling.readable); at most "
                    + "\(MemoryLimits.highestCeiling)")
        }
        guard device.input.map({ $0 <= .percent(400) }) ?? true else {
            throw report.source.fault(
                at: report.listOffset,
                "\(compressed.readable) would be compressed; at most four times the RAM of "
                    + "\(device.ceiling.readable)")
        }
    }

    /// The processes that jetsam ended.
    public var victims: [Member] { members.filter { $0.process.reason != nil } }

    /// The app in front; nil for the home screen.
    public var front: Member? { members.first { $0.state == .front && $0.kind == nil } }

    /// What the report says, for people and programs.
    public var digest: ReportDigest { ReportDigest(self) }
}

extension JetsamPhoneImport {
    /// A complete scenario, ready to run.
    public var scenario: String { PhoneScenario(self).text }
}
