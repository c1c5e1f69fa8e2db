import Lifecycle
import Pressure
import Quantities

extension SystemSnapshot {
    /// Why the policy is asked, for people: what was observed against which threshold.
    public var reason: String { reason(scale: .one) }

    /// The same with the sizes of the original of a scale model.
    ///
    /// - Parameter scale: That of the device, above zero.
    public func reason(scale: Ratio) -> String {
        func size(_ bytes: ByteCount) -> String { bytes.onOriginal(of: scale).readable }
        return switch demand {
        case .nothing: "\(size(obtainable)) available"
        case .pressure:
            if let reading, reading.measure != .available {
                reading.decisive(under: monitor, of: ceiling).text(scale: scale)
            } else {
                "\(level.rawValue): \(size(obtainable)) available, \(size(threshold)) needed"
            }
        case .allocation(let pid, let wanted):
            "process \(pid.number) waits for \(size(wanted)), \(size(available)) available"
        case .backgroundProcesses(let excess):
            "\(excess.counted("background process", "background processes")) too many"
        case .backgroundMemory(let excess):
            "background memory is \(size(excess)) above its limit of \(size(threshold))"
        }
    }

    /// Whether the answer may be delayed: no allocation and no limit waits for it.
    public var mayBePutOff: Bool {
        switch demand {
        case .nothing, .pressure: true
        case .allocation, .backgroundProcesses, .backgroundMemory: false
        }
    }
}
