import Foundation
import Memory
import Metrics
import Quantities
import Simulation

/// `manifest.json`: everything about a run that cannot be deterministic, and what repeats it. Written last, at once.
///
/// Its keys stand in one object, whatever group a fact belongs to here.
struct Manifest: Encodable {
    var plan: PlanFacts
    var ending: EndingFacts
    var times: TimeFacts
    var build: BuildFacts
    /// How many events the run's queue has handled.
    var queueEvents: Int
    var commandLine: [String]
    /// The policy was asked and its decisions recorded, but none of them was carried out (`--dry-run`).
    var dryRun: Bool
    /// The name of the timeline (`--trace`), where the run left one in its own folder.
    var traceFile: String?
    /// How many JetsamEvent reports the run left, if it was to (`--jetsam-events`).
    var jetsamEvents: Int?
    var host: HostFacts
    var allocator: AllocatorFacts?
    var memory: MemoryFacts
    var expectations: [ExpectationResult]
    var measurementWarnings: [String]

    private enum CodingKeys: String, CodingKey {
        case queueEvents, commandLine, dryRun, traceFile, jetsamEvents, host, allocator, memory, expectations
        case measurementWarnings
    }

    func encode(to encoder: any Encoder) throws {
        for group in [plan, ending, times, build] as [any Encodable] { try group.encode(to: encoder) }
        var facts = encoder.container(keyedBy: CodingKeys.self)
        try facts.encode(queueEvents, forKey: .queueEvents)
        try facts.encode(commandLine, forKey: .commandLine)
        try facts.encode(dryRun, forKey: .dryRun)
        try facts.encodeIfPresent(traceFile, forKey: .traceFile)
        try facts.encodeIfPresent(jetsamEvents, forKey: .jetsamEvents)
        try facts.encode(host, forKey: .host)
        try facts.encodeIfPresent(allocator, forKey: .allocator)
        try facts.encode(memory, forKey: .memory)
        try facts.encode(expectations, forKey: .expectations)
        try facts.encode(measurementWarnings, forKey: .measurementWarnings)
    }

    /// What was run.
    struct PlanFacts: Encodable {
        var scenario: String
        var scenarioFile: String
        var seed: UInt64
        var policy: String
        /// The file that the policy came from, if it was one.
        var policyFile: String?
        var backend: String
    }

    struct EndingFacts: Encodable {
        /// `completed`, `interrupted` or `failed`.
        var ending: String
        /// The signal, or what failed.
        var endingDetail: String?
        var exitStatus: Int32
    }

    struct TimeFacts: Encodable {
        var startedAt: String
        var wallS: Double
        var cpuS: Double
        var virtualS: Double
    }

    /// What made the run.
    struct BuildFacts: Encodable {
        var formatVersion = runFormatVersion
        var plimsoll = plimsollVersion
        var build: String
        var buildId = BuildIdentity.current
    }

    struct HostFacts: Codable {
        var kernel = Host.kernel
        var cores = ProcessInfo.processInfo.activeProcessorCount
        var memoryBytes = Host.totalMemory?.bytes
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

    /// The kernel's own peak, and what it consists of.
    struct MemoryFacts: Encodable {
        /// The harness before the device was made (VmHWM).
        var baselineBytes: Int?
        /// The kernel's peak of this process (VmHWM).
        var kernelPeakBytes: Int?
        /// The books' peak of the device, tracked at every hand-out of pages.
        var peakResidentBytes: Int
        /// The most pages of the device's region that the harness let the kernel back at once.
        var regionTouchedBytes: Int
        /// jemalloc's own bookkeeping as of the last comparison of the books (`stats.metadata`): of all arenas made,
        /// and of its statistics. What of it was touched is part of `harnessHeap` and `unexplained`. Zero on the
        /// accounting backend.
        var allocatorMetadataBytes: Int
        /// What the harness's own heap has grown by (RssAnon after the device is gone, minus before).
        var harnessHeapBytes: Int?
        /// Code and read-only data that were paged in meanwhile (RssFile).
        var pagedInCodeBytes: Int?
        /// kernelPeak - baseline - regionTouched - harnessHeap - pagedInCode. Below zero: pages that were handed out
        /// and never written, so that the kernel never backed them.
        var unexplainedBytes: Int?
    }

    struct ExpectationResult: Encodable {
        var expectation: String
        var observed: String
        var held: Bool
    }

    func json() throws -> String { try JSONDocument.of(self) + "\n" }
}
