/// What a policy needs from the simulation.
public struct PolicyNeeds: OptionSet, Hashable, Sendable {
    /// The bits of the set.
    public let rawValue: Int

    /// A set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The policy has its own thresholds and is asked at every sample.
    public static let everySample = PolicyNeeds(rawValue: 1)
    /// The policy knows the future launches.
    public static let oracle = PolicyNeeds(rawValue: 2)
    /// The device has as much memory as the apps want.
    public static let unboundedMemory = PolicyNeeds(rawValue: 4)
    /// The policy's rules have durations and cool-downs, which are updated at every sample.
    public static let ruleMemory = PolicyNeeds(rawValue: 8)
    /// The policy is a daemon that looks at times of its own: an allocation that waits for memory does not wake it
    /// before its next look.
    public static let ownTimes = PolicyNeeds(rawValue: 16)
    /// The policy is asked again as soon as its victim has ended, though the victim's memory is still on its way back.
    /// Without this, it is not asked before that memory is back.
    public static let looksOn = PolicyNeeds(rawValue: 64)
    /// What the policy compares with `contentAbove` is `SystemSnapshot.obtainable`: free memory, and what the system
    /// takes for nothing. Without this, it is `available`.
    public static let obtainable = PolicyNeeds(rawValue: 32)
    /// The policy acts on stalls, which a real kernel has before it ends a process itself. So the kernel behind the
    /// policy lets an allocation wait for a while.
    public static let actsOnStalls = PolicyNeeds(rawValue: 256)
    /// The measure of thrashing begins anew at each kill.
    public static let thrashingAnew = PolicyNeeds(rawValue: 128)
}
