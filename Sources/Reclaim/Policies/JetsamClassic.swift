import Quantities

/// iOS's kernel before it ended idle apps early: no idle-exit and no long-idle-exit.
///
/// Reproduces xnu-11215 and older; everything else is as in `Jetsam`.
public struct JetsamClassic: ReclaimPolicy {
    public static let name = "jetsam-classic"
    public static let summary = "iOS's kernel without the idle and reaper steps (xnu-11215)"
    public static let parameters = JetsamParameters.table(isClassic: true)
    public static let needs: PolicyNeeds = .everySample

    private let rules: JetsamRules

    public static func meaning(
        ofDefault parameter: String, in values: ParameterValues, on device: DeviceSize
    ) -> ParameterValue? {
        JetsamParameters.meaning(ofDefault: parameter, in: values, on: device)
    }

    public init(_ values: ParameterValues) {
        rules = JetsamRules(values, isClassic: true)
    }

    public func contentAbove(on device: DeviceSize) -> ByteCount? { rules.contentAbove(on: device) }

    public func decide(_ snapshot: SystemSnapshot) -> Decision { rules.decide(snapshot) }
}
