/// A long-term release of Linux whose OOM killer a device or the policy `kernel-oom` has. A release between two of them
/// has the rule of one of both; `KernelBadness` says from which release on each rule holds.
public enum LinuxKernel: String, CaseIterable, Sendable {
    case linux3x4 = "3.4"
    case linux3x10 = "3.10"
    case linux3x18 = "3.18"
    case linux4x4 = "4.4"
    case linux4x9 = "4.9"
    case linux4x14 = "4.14"
    case linux4x19 = "4.19"
    case linux5x4 = "5.4"
    case linux5x10 = "5.10"
    case linux5x15 = "5.15"
    case linux6x1 = "6.1"
    case linux6x6 = "6.6"
    case linux6x12 = "6.12"

    /// The release that a scenario gets if it names none.
    public static let standard = linux6x12

    /// The rule of its OOM killer.
    public var badness: KernelBadness {
        let numbers = rawValue.split(separator: ".").compactMap { Int($0) }
        return KernelBadness(release: KernelRelease(numbers.first ?? 0, numbers.last ?? 0))
    }
}
