/// Gives the device unlimited memory: what the apps would do if nothing were ever taken from them. A yardstick: the
/// best case.
///
/// The run gets a ceiling so high that it is never reached; the policy itself does nothing. An app's own fatal limit
/// still holds. It supposes that nothing has to be compressed: its device has no compressor.
public struct Unbounded: ReclaimPolicy {
    public static let name = "unbounded"
    public static let summary = "memory without a limit and without a compressor: the best case for every comparison"
    public static let parameters: [Parameter<Self>] = []
    public static let needs: PolicyNeeds = .unboundedMemory

    public init() {}

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        .nothing(.content("memory is not bounded"), snapshot)
    }
}
