import Lifecycle
import Plan
import Quantities
import Reclaim
import Scenario
import Simulation

/// A run's kill reports in the form of JetsamEvent reports (`.ips`, bug type 298), for tools that read those.
///
/// The form follows reports of iOS 14.2 with the bands of iOS 16: a header of one line, then the report. All values
/// come from the run: dates are virtual time, identifiers are drawn from the seed. Values that are not simulated
/// (`cpuTime`, `fds`, a file cache) are zero, because tools expect their keys. Zones, which not all
/// reports have, are left out. A report lists the processes of the scenario: the system's own memory counts as wired
/// memory.
public struct JetsamEventExport: Sendable {
    private let scenario: String
    private let policy: String
    private let seed: UInt64
    /// The device in words, after a comma; empty if the scenario does not name it.
    private let device: String
    /// The unit of the report's counts.
    private let page: ByteCount

    /// An export for runs of this plan.
    public init(_ plan: RunPlan) {
        self.init(scenario: plan.name, policy: plan.policy.title, seed: plan.seed, device: plan.device)
    }

    /// - Parameters:
    ///   - scenario: The scenario's name, which identifies the device: equal names give equal `crashReporterKey`s.
    ///   - policy: The policy's title.
    init(scenario: String, policy: String, seed: UInt64, device: Device = Device(ceiling: .zero)) {
        (self.scenario, self.policy, self.seed) = (scenario, policy, seed)
        let words = [device.name, device.os].compactMap(\.self)
        self.device = words.isEmpty ? "" : ", device \(words.joined(separator: ", "))"
        page = device.page.size
    }

    /// The name that a device would give the report, followed by the report's number in the run:
    /// `JetsamEvent-2001-01-01-000844.001.ips`.
    public func name(of report: KillReport) -> String {
        let digits = "\(report.number)"
        let number = String(repeating: "0", count: max(0, 3 - digits.count)) + digits
        return "\(JetsamEventExport.namePrefix)\(VirtualDate(report.at).stamp).\(number)\(JetsamEventExport.nameSuffix)"
    }

    /// The first characters of every report's name.
    public static let namePrefix = "JetsamEvent-"
    /// The last characters of every report's name.
    public static let nameSuffix = ".ips"

    /// The system whose jetsam is simulated (xnu-11417), so that readers interpret the bands on today's scale.
    private static let system = "iPhone OS 18.4 (plimsoll)"

    /// The bytes with which every exported report begins. No device's report begins with them.
    public static let beginning: [UInt8] = {
        var bytes: [UInt8] = []
        head.write(to: &bytes, .tight)
        return bytes.dropLast() + [UInt8(ascii: ",")]
    }()

    private static let head = JSON.object(["bug_type": .string("298"), "os_version": .string(system)])

    /// The complete report.
    public func text(of report: KillReport) -> [UInt8] {
        let date = VirtualDate(report.at).timestamp
        let incident = incident(of: report)
        var bytes: [UInt8] = []
        JetsamEventExport.head.adding(["timestamp": .string(date), "incident_id": .string(incident)])
            .write(to: &bytes, .tight)
        bytes.append(UInt8(ascii: "\n"))
        let largest = report.processes.first { $0.state.footprint == report.largestFootprint }
        JSON.object([
            "crashReporterKey": .string(hexadecimal(40, of: "device/\(scenario)", seed: 0)),
            "kernel": .string("plimsoll: scenario \(scenario), policy \(policy), seed \(seed)\(device)"),
            "product": .string("plimsoll"),
            "incident": .string(incident),
            "date": .string(date),
            "build": .string(JetsamEventExport.system),
            "timeDelta": .whole(Int((report.closed - report.at).microseconds / 1_000_000)),
            "memoryStatus": memory(of: report),
            "largestProcess": .string(largest?.state.name ?? ""),
            "genCounter": .whole(1 + (report.processes.last?.generation ?? 0)),
            "processes": .array(report.processes.map { process($0, in: report) }),
        ]).write(to: &bytes, .lines)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    // MARK: Memory

    private func pages(_ bytes: ByteCount) -> Int { bytes.bytes / page.bytes }

    /// Pages of processes that run code are active, those of suspended processes inactive; all of them are anonymous.
    private func memory(of report: KillReport) -> JSON {
        let there = report.processes.filter { $0.generation == 0 }
        func held(suspended: Bool) -> Int {
            pages(there.reduce(.zero) { $1.state.phase.restsInMemory == suspended ? $0 + $1.resident : $0 })
        }
        let (active, inactive) = (held(suspended: false), held(suspended: true))
        return .object([
            "compressorSize": .whole(pages(report.compressor)),
            "compressions": .whole(0),
            "decompressions": .whole(0),
            "uncompressed": .whole(there.reduce(0) { $0 + pages($1.compressed) }),
            "pageSize": .whole(page.bytes),
            "memoryPages":
                .object([
                    "active": .whole(active),
                    "throttled": .whole(0),
                    "fileBacked": .whole(0),
                    "wired": .whole(pages(report.reserved)),
                    "anonymous": .whole(active + inactive),
                    "purgeable": .whole(0),
                    "inactive": .whole(inactive),
                    "free": .whole(pages(report.available)),
                    "speculative": .whole(0),
                ]),
        ])
    }

    // MARK: Processes

    private func process(_ process: KillReport.Process, in report: KillReport) -> JSON {
        let state = process.state
        let footprint = pages(state.footprint)
        let seen = process.generation == 0 ? report.at : process.kill?.at ?? report.at
        let facts = JSON.object([
            "uuid": .string(identifier(of: "program/\(state.name)", seed: 0).lowercased()),
            "states": .array(words(for: process).map { .string($0) }),
            "lifetimeMax": .whole(pages(process.largest)),
            "age": .whole(ticks(seen - state.launchedAt)),
            "purgeable": .whole(0),
            "fds": .whole(0),
            "coalition": .whole((state.group ?? state.app.index) + 1),
            "rpages": .whole(footprint),
            "priority": .whole(state.band.number),
            "physicalPages": .object([
                "internal": .array([.whole(pages(process.resident)), .whole(pages(process.compressed))])
            ]),
            "pid": .whole(state.pid.number),
            "cpuTime": .whole(0),
            "name": .string(state.name),
        ])
        guard let kill = process.kill else { return facts }
        return facts.adding([
            "reason": .string(kill.cause.rawValue), "killDelta": .whole(ticks(kill.at - report.at)),
            "genCount": .whole(process.generation),
        ])
    }

    /// The system's words for a process's state. An idle daemon is one in the bands where it ages, or below.
    private func words(for process: KillReport.Process) -> [String] {
        if process.state.kind == .daemon {
            return process.state.phase == .suspended && process.state.band <= .daemonAgeing
                ? ["daemon", "idle"] : ["daemon"]
        }
        return switch process.state.phase {
        case .suspended, .prewarmed: ["suspended"]
        case .background: ["background"]
        case .active, .inactive, .notRunning: [process.isWanted ? "frontmost" : "foreground"]
        }
    }

    /// A time span in ticks of 24 MHz, the unit that devices use.
    private func ticks(_ span: TimeSpan) -> Int { Int(span.microseconds) * 24 }

    // MARK: Identifiers

    /// An identifier that is unique to the report, scenario, policy and seed.
    private func incident(of report: KillReport) -> String {
        identifier(of: "incident/\(scenario)/\(policy)/\(report.number)", seed: seed)
    }

    /// An identifier in the form of a random UUID (RFC 9562, version 4).
    private func identifier(of what: String, seed: UInt64) -> String {
        var digits = Array(hexadecimal(32, of: what, seed: seed).uppercased())
        digits[12] = "4"
        digits[16] = Array("89AB")[(digits[16].hexDigitValue ?? 0) % 4]
        let ends = [8, 12, 16, 20, 32]
        let starts = [0] + ends.dropLast()
        return zip(starts, ends).map { String(digits[$0..<$1]) }.joined(separator: "-")
    }

    private func hexadecimal(_ count: Int, of what: String, seed: UInt64) -> String {
        var random = SeededGenerator(seed: seed, stream: "jetsam-event/\(what)")
        let digits = Array("0123456789abcdef")
        return String((0..<count).map { _ in digits[Int(random.below(16))] })
    }
}

extension KillReport.Process {
    fileprivate var resident: ByteCount { state.footprint - compressed }
}

extension KillReport {
    fileprivate var largestFootprint: ByteCount { processes.reduce(.zero) { max($0, $1.state.footprint) } }
}
