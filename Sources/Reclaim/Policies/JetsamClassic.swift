import Quantities

/// `Jetsam` with kernel 11215 (iOS 18.0) under its former name: it has the idle step and no reaper.
///
/// The policy used to lack the idle step as well, but every release has that step. The name is kept so that older
/// scenarios still run; a message says what to write instead.
public struct JetsamClassic: ReclaimPolicy {
    public static let name = "jetsam-classic"
    public static let summary = "jetsam with kernel 11215, under its former name: no reaper (xnu-11215)"
    public static let advice: String? =
        "policy 'jetsam-classic' is jetsam with kernel 11215; "
        + "write policy: { name: jetsam, parameters: { kernel: 11215 } }"
    public static let parameters = thresholds(of: kernel) + common(of: kernel)
    public static let needs: PolicyNeeds = .everySample

    private static let kernel = JetsamKernel.xnu11215
    var rules = JetsamRules(kernel: kernel)

    public init() {}

    public func contentAbove(on device: DeviceSize) -> ByteCount? { rules.contentAbove(on: device) }

    public func decide(_ snapshot: SystemSnapshot) -> Decision { rules.decide(snapshot) }
}
