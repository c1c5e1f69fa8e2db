import Quantities

/// `Jetsam` with kernel 11215 (iOS 18.0) under its former name. This kernel has a step that ends only idle processes,
/// those in band 0. It has no reaper, the step that ends only processes that have been idle for long.
///
/// Formerly, the policy left idle processes alone until the critical threshold. No release that `JetsamKernel` names
/// does that: releases without a step for idle processes raise the critical threshold while there are any. The name is
/// kept so that older scenarios still run; a message says what to write instead.
public struct JetsamClassic: ReclaimPolicy {
    public static let name = "jetsam-classic"
    public static let summary = "former name of jetsam with kernel 11215: no step for long-idle apps (xnu-11215)"
    public static let advice: String? =
        "policy 'jetsam-classic' is jetsam with kernel 11215; "
        + "write policy: { name: jetsam, parameters: { kernel: 11215 } }"
    public static let parameters = thresholds(of: kernel) + common(of: kernel)
    public static let needs: PolicyNeeds = [.everySample, .obtainable]

    private static let kernel = JetsamKernel.xnu11215
    var rules = JetsamRules(kernel: kernel)

    public init() {}

    public func contentAbove(on device: DeviceSize) -> ByteCount? { rules.contentAbove(on: device) }

    public func isBusy(_ history: ReclaimHistory) -> Bool { history.course.isBusy }

    public func decide(_ snapshot: SystemSnapshot) -> Decision { rules.decide(snapshot) }
}
