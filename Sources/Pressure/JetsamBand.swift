import Lifecycle

/// jetsam's priority bands: higher is more important, kills ascend.
///
/// Source: xnu-11417.101.15, the scale in use since iOS 16. Which state an app is put into which band is not public;
/// the mapping in `band(of:modes:)` is ours.
public struct JetsamBand: Hashable, Comparable, Sendable {
    public let number: Int

    public init(_ number: Int) { self.number = number }

    public static let idle = JetsamBand(0)
    public static let ageing = JetsamBand(20)
    public static let background = JetsamBand(30)
    public static let elevatedInactive = JetsamBand(40)
    public static let foreground = JetsamBand(100)
    public static let audio = JetsamBand(120)

    public static func < (a: JetsamBand, b: JetsamBand) -> Bool { a.number < b.number }

    /// The band of a process, by what it does.
    public static func band(of phase: ProcessPhase, modes: [BackgroundMode]) -> JetsamBand {
        switch phase {
        case .notRunning, .suspended: .idle
        case .inactive, .active: .foreground
        case .background:
            modes.contains(.audio) || modes.contains(.externalAccessory)
                ? .audio : (modes.isEmpty ? .background : .elevatedInactive)
        }
    }
}
