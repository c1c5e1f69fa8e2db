import Memory
import Pressure
import Quantities

/// Whatever may spoil a run without making it wrong; each with its advice. Not an error.
enum MeasurementWarning: Hashable {
    case debugBuild
    case foreignAllocatorOptions(String)
    case coarseSampling(TimeSpan)
    case fewCores(Int)
    case scaled(Ratio)
    /// Memory of the host that is neither the device's nor the harness's heap after the run.
    case unexplained(ByteCount)

    /// From here on the books are no small part of a run.
    private static let mostUnexplained = ByteCount.mebibytes(64)

    /// - Parameter unexplained: The manifest's `unexplained_bytes`; nil where the kernel does not say.
    init?(unexplained bytes: Int?) {
        guard let bytes, ByteCount(bytes) > MeasurementWarning.mostUnexplained else { return nil }
        self = .unexplained(ByteCount(bytes))
    }

    var text: String {
        switch self {
        case .debugBuild: "this is a debug build: times are not representative; build with -c release"
        case .foreignAllocatorOptions(let options):
            "MALLOC_CONF or /etc/malloc.conf says \"\(options)\": results may differ from other machines'; unset it"
        case .coarseSampling(let interval):
            "the monitor looks only every \(interval): peaks in between show in peak_resident_bytes alone"
        case .scaled(let scale):
            "scaled by \(scale): times, counts, pages and jemalloc's bookkeeping (about 134 KiB per process) do not "
                + "scale; requested_bytes, usable_bytes and objects are those of a sample, not for comparison with a "
                + "whole run's"
        case .unexplained(let size):
            "\(size.readable) of the host's memory were neither the device's pages nor the harness's heap "
                + "(unexplained_bytes): the books of objects, 8 bytes each, and jemalloc's bookkeeping; "
                + "kernel_peak_bytes says more of them than of the apps; larger memory.objects are fewer"
        case .fewCores(let count): "the host has \(count) core: wall times are not representative"
        }
    }

    static func all(interval: TimeSpan, allocator: AllocatorDescription, cores: Int) -> [MeasurementWarning] {
        var warnings: [MeasurementWarning] = []
        #if DEBUG
            warnings.append(.debugBuild)
        #endif
        if let options = allocator.foreignEnvironment ?? allocator.foreignFile {
            warnings.append(.foreignAllocatorOptions(options))
        }
        if interval > .seconds(1) { warnings.append(.coarseSampling(interval)) }
        if cores < 2 { warnings.append(.fewCores(cores)) }
        return warnings
    }
}
