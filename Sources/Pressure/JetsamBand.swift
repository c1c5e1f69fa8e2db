import Lifecycle

/// jetsam's priority bands: higher is more important, kills ascend.
///
/// Source: xnu-11417.101.15, the scale in use since iOS 16. Which state an app is put into which band is not public;
/// the mapping in `band(of:modes:)` is ours.
public struct JetsamBand: Hashable, Comparable, Sendable {
    public let number: Int

    public init(_ number: Int) { self.number = number }

    /// Suspended apps and clean idle daemons.
    public static let idle = JetsamBand(0)
    /// A daemon that has just become idle.
    public static let daemonAgeing = JetsamBand(10)
    /// A daemon whose assertion was not given back in time.
    public static let daemonStuck = JetsamBand(15)
    /// An app for 2 s after it became idle.
    public static let ageing = JetsamBand(20)
    /// Finishing what it did on screen, or a background task.
    public static let background = JetsamBand(30)
    /// Work off screen: navigation, a call, what the system woke it for (processing, a refresh, a push, …).
    public static let elevatedInactive = JetsamBand(40)
    public static let freezer = JetsamBand(75)
    public static let interfaceSupport = JetsamBand(80)
    public static let foregroundSupport = JetsamBand(90)
    public static let foreground = JetsamBand(100)
    public static let audio = JetsamBand(120)
    public static let home = JetsamBand(160)
    public static let executive = JetsamBand(170)
    public static let critical = JetsamBand(190)
    /// Never a victim.
    public static let `internal` = JetsamBand(999)

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

    /// The band of today's scale for one of the scale of iOS 15 and older (0 to 21); nil for a number that it had not.
    public static func band(before16 old: Int) -> JetsamBand? {
        let scale = [0, 10, 20, 30, 40, 50, 80, 90, 100, 120, 160, 170, 180, 190, 200, 210]
        let numbers = [0, 1, 2, 3, 4, 5, 8, 9, 10, 12, 16, 17, 18, 19, 20, 21]
        return numbers.firstIndex(of: old).map { JetsamBand(scale[$0]) }
    }
}
