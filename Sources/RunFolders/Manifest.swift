import Foundation
import Memory
import Metrics
import Plan
import Quantities
import Scenario
import Simulation

/// `manifest.json`: the facts of a run that differ between repetitions, and what is needed to repeat it. Written last,
/// in one step.
///
/// The file has one flat JSON object; the groups exist only in this type.
package struct Manifest: Encodable {
    package var plan: PlanFacts
    package var ending: EndingFacts
    package var times: TimeFacts
    var build: BuildFacts
    /// The number of queue events that the run handled.
    var queueEvents: Int
    var commandLine: [String]
    /// Whether the policy's decisions were recorded but not carried out (`--dry-run`).
    package var dryRun: Bool
    /// The name of the timeline (`--trace`), if it is in the run's folder.
    var traceFile: String?
    /// The number of JetsamEvent reports; nil without `--jetsam-events`.
    var jetsamEvents: Int?
    var host: HostFacts
    var allocator: AllocatorFacts?
    /// The version of the LZ4 that compressed the pages; nil if their sizes were drawn. The sizes follow from it.
    var lz4: String?
    var memory: MemoryFacts
    package var expectations: [Claim]
    var measurementWarnings: [String]

    private enum CodingKeys: String, CodingKey {
        case queueEvents, commandLine, dryRun, traceFile, jetsamEvents, host, allocator, lz4, memory, expectations
        case measurementWarnings
    }

    package func encode(to encoder: any Encoder) throws {
        for group in [plan, ending, times, build] as [any Encodable] { try group.encode(to: encoder) }
        var facts = encoder.container(keyedBy: CodingKeys.self)
        try facts.encode(queueEvents, forKey: .queueEvents)
        try facts.encode(commandLine, forKey: .commandLine)
        try facts.encode(dryRun, forKey: .dryRun)
        try facts.encodeIfPresent(traceFile, forKey: .traceFile)
        try facts.encodeIfPresent(jetsamEvents, forKey: .jetsamEvents)
        try facts.encode(host, forKey: .host)
        try facts.encodeIfPresent(allocator, forKey: .allocator)
        try facts.encodeIfPresent(lz4, forKey: .lz4)
        try facts.encode(memory, forKey: .memory)
        try facts.encode(expectations, forKey: .expectations)
        try facts.encode(measurementWarnings, forKey: .measurementWarnings)
    }

    /// What the run was made from.
    package struct PlanFacts: Encodable {
        var scenario: String
        var scenarioFile: String
        var seed: UInt64
        var policy: String
        /// The policy file, if the policy came from one.
        package var policyFile: String?
        var backend: String
    }

    package struct EndingFacts: Encodable {
        /// `completed`, `interrupted` or `failed`.
        package var ending: String
        /// The signal or the fault.
        package var endingDetail: String?
        package var exitStatus: Int32
    }

    package struct TimeFacts: Encodable {
        var startedAt: String
        package var wallS: Double
        package var cpuS: Double
        var virtualS: Double
    }

    /// The program that made the run.
    struct BuildFacts: Encodable {
        var formatVersion = runFormatVersion
        var plimsoll = plimsollVersion
        /// `debug` or `release`.
        var build = BuildFacts.kind
        var buildId = BuildIdentity.current

        private static var kind: String {
            #if DEBUG
                "debug"
            #else
                "release"
            #endif
        }
    }

    struct HostFacts: Codable {
        var kernel = HostMachine.kernel
        var cores = ProcessInfo.processInfo.activeProcessorCount
        var memoryBytes = HostMachine.totalMemory?.bytes
    }

    struct AllocatorFacts: Encodable {
        var version: String
        var compiledOptions: String
        var options: [String: String]
        var foreignOptions: String?

        init(_ description: AllocatorDescription) {
            version = description.version
            compiledOptions = description.compiledOptions
            options = Dictionary(
                description.options.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
            foreignOptions = description.foreignEnvironment ?? description.foreignFile
        }
    }

    /// The kernel's figure for this process's peak memory, and the parts of it.
    struct MemoryFacts: Encodable {
        /// The peak before the device was made (VmHWM).
        var baselineBytes: Int?
        /// The kernel's peak of this process (VmHWM).
        var kernelPeakBytes: Int?
        /// The device's peak by plimsoll's accounting, tracked whenever pages are handed out.
        var peakResidentBytes: Int
        /// The most of the device's region that the program let the kernel back with pages at once, in bytes.
        var regionTouchedBytes: Int
        /// jemalloc's bookkeeping at the last comparison with its statistics (`stats.metadata`): for all arenas made,
        /// and for the statistics. Its touched pages are part of `harnessHeap` and `unexplained`. Zero on the
        /// accounting backend.
        var allocatorMetadataBytes: Int
        /// The growth of this program's own heap (RssAnon after the device is released, minus before).
        var harnessHeapBytes: Int?
        /// Code and read-only data paged in during the run (RssFile).
        var pagedInCodeBytes: Int?
        /// kernelPeak - baseline - regionTouched - harnessHeap - pagedInCode. It is negative if pages were handed out
        /// but never written, so that the kernel never backed them.
        var unexplainedBytes: Int?
    }

    /// A claim of the scenario's `expect`, and what came of it.
    package struct Claim: Encodable {
        package var expectation: String
        /// The app's name; nil for a claim about the whole run.
        package var app: String?
        package var observed: String
        package var held: Bool

        package init(_ result: ExpectationResult) {
            (expectation, observed) = (result.expectation.text, result.observed.text)
            app = result.expectation.app
            held = result.holds
        }

        /// What the run had, in words.
        package var observation: String { observed.isEmpty ? "this run has no such value" : "observed \(observed)" }
    }

    /// The file in which a claim of the run stands; nil if no file has it, or if the scenario came from a pipe.
    package func file(of claim: Expectation) -> String? {
        claim.line == nil || plan.scenarioFile == InputFile.standardInput ? nil : plan.scenarioFile
    }

    package func json() throws -> String { try JSONDocument.of(self) + "\n" }
}
