import Memory
import Pressure
import Quantities
import Simulation

/// Warns of a condition that may spoil a run's figures although the run is right, and gives advice. Not an error.
package enum MeasurementWarning: Hashable {
    /// A debug build: optimised, with the checks that all tests run with.
    case checks
    case notOptimised
    case foreignAllocatorOptions(String)
    case coarseSampling(TimeSpan)
    case fewCores(Int)
    case scaled(Ratio)
    /// Memory of the host that neither the device's pages nor, after the run, the heap of the program accounts for.
    case unexplained(ByteCount)

    /// Above this, the bookkeeping is a considerable part of a run's memory.
    private static let mostUnexplained = ByteCount.mebibytes(64)

    /// - Parameter unexplained: The manifest's `unexplained_bytes`; nil if the kernel does not say.
    package init?(unexplained bytes: Int?) {
        guard let bytes, ByteCount(bytes) > MeasurementWarning.mostUnexplained else { return nil }
        self = .unexplained(ByteCount(bytes))
    }

    /// The warning for a terminal, where a usual one needs no more than a reminder; the manifest has `text`.
    package var brief: String {
        let rest = "; measurement_warnings in manifest.json says more"
        return switch self {
        case .scaled(let scale): "scaled by \(scale): times and counts do not scale" + rest
        case .unexplained(let size): "kernel_peak_bytes holds \(size.readable) of bookkeeping, too" + rest
        default: text
        }
    }

    /// The warning with its advice.
    package var text: String {
        switch self {
        case .checks: "this build has the checks of the tests: it is slower than one with -c release"
        case .notOptimised: "this build is not optimised: times are not representative; build with -c release"
        case .foreignAllocatorOptions(let options):
            "MALLOC_CONF or /etc/malloc.conf says \"\(options)\": other machines may give other results; unset it"
        case .coarseSampling(let interval):
            "the monitor samples only every \(interval): peaks in between show only in peak_resident_bytes"
        case .scaled(let scale):
            "scaled by \(scale): times, counts, pages and jemalloc's bookkeeping (about 134 KiB per process) do not "
                + "scale; requested_bytes, usable_bytes and objects are those of a sample: do not compare them with a "
                + "full-scale run's"
        case .unexplained(let size):
            "\(size.readable) of the host's memory were neither the device's pages nor the program's heap "
                + "(unexplained_bytes): the bookkeeping of objects, 8 bytes each, and jemalloc's own; "
                + "kernel_peak_bytes measures them more than the apps; larger memory.objects need less"
        case .fewCores(let count): "the host has \(count) core: wall times are not representative"
        }
    }

    package static func all(interval: TimeSpan, allocator: AllocatorDescription, cores: Int) -> [MeasurementWarning] {
        var warnings: [MeasurementWarning] = []
        if let warning = ofBuild(isOptimised: EngineBuild.isOptimised) { warnings.append(warning) }
        if let options = allocator.foreignEnvironment ?? allocator.foreignFile {
            warnings.append(.foreignAllocatorOptions(options))
        }
        if interval > .seconds(1) { warnings.append(.coarseSampling(interval)) }
        if cores < 2 { warnings.append(.fewCores(cores)) }
        return warnings
    }

    package static func ofBuild(isOptimised: Bool) -> MeasurementWarning? {
        guard isOptimised else { return .notOptimised }
        #if DEBUG
            return .checks
        #else
            return nil
        #endif
    }
}
