import Quantities

/// iOS's kernel: bands, limits and thresholds of available memory, one kill at a time.
///
/// Reproduces the release that its parameter `kernel` names, xnu-11417.101.15 if none is; see `JetsamKernel` for what
/// differs between them and `JetsamRules` for the order of its steps. What needs a compressor or a freezer is left out,
/// for the device has neither. The foreground is ranked like any band; whether it may be touched is for the limits to
/// say.
public struct Jetsam: ReclaimPolicy {
    public static let name = "jetsam"
    public static let summary = "iOS's kernel: priority bands against shares of RAM available (xnu-8792 to xnu-11417)"
    public static let parameters = thresholds + common(of: .standard)
    public static let needs: PolicyNeeds = .everySample

    var rules = JetsamRules()

    public init() {}

    public func contentAbove(on device: DeviceSize) -> ByteCount? { rules.contentAbove(on: device) }

    public func decide(_ snapshot: SystemSnapshot) -> Decision { rules.decide(snapshot) }
}
