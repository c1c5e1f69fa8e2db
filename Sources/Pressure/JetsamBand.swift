import Lifecycle

/// One of jetsam's priority bands. A higher number is more important; jetsam kills in ascending order.
///
/// Source: xnu-11417.101.15, the scale in use since iOS 16. Apple does not publish which app state has which band; the
/// mapping in `band(of:modes:)` is Plimsoll's own.
public struct JetsamBand: Hashable, Comparable, Sendable {
    /// The kernel's number of the band.
    public let number: Int

    /// Any number is accepted, named band or not.
    public init(_ number: Int) { self.number = number }

    /// Suspended processes: apps, and clean idle daemons.
    public static let idle = JetsamBand(0)
    /// A daemon that has just become idle.
    public static let daemonAgeing = JetsamBand(10)
    /// A daemon that kept its assertion too long.
    public static let daemonStuck = JetsamBand(15)
    /// An app for 2 s after it became idle.
    public static let ageing = JetsamBand(20)
    /// An app that finishes its work on screen, or runs a background task.
    public static let background = JetsamBand(30)
    /// An app that works off screen: navigation, a call, or a system wake-up (processing, a refresh, a push, …).
    public static let elevatedInactive = JetsamBand(40)
    /// The kernel's `JETSAM_PRIORITY_FREEZER`.
    public static let freezer = JetsamBand(75)
    /// The kernel's `JETSAM_PRIORITY_UI_SUPPORT`.
    public static let interfaceSupport = JetsamBand(80)
    /// The kernel's `JETSAM_PRIORITY_FOREGROUND_SUPPORT`.
    public static let foregroundSupport = JetsamBand(90)
    /// An app on screen, active or inactive.
    public static let foreground = JetsamBand(100)
    /// An app that plays audio or serves an accessory off screen.
    public static let audio = JetsamBand(120)
    /// The kernel's `JETSAM_PRIORITY_HOME`.
    public static let home = JetsamBand(160)
    /// The kernel's `JETSAM_PRIORITY_EXECUTIVE`.
    public static let executive = JetsamBand(170)
    /// The kernel's `JETSAM_PRIORITY_CRITICAL`.
    public static let critical = JetsamBand(190)
    /// Never killed.
    public static let `internal` = JetsamBand(999)

    /// Orders bands by their number.
    public static func < (a: JetsamBand, b: JetsamBand) -> Bool { a.number < b.number }

    /// The band of a process in this phase, with the background modes it runs for.
    public static func band(of phase: ProcessPhase, modes: [BackgroundMode]) -> JetsamBand {
        switch phase {
        case .notRunning, .suspended, .prewarmed: .idle
        case .inactive, .active: .foreground
        case .background:
            modes.contains(.audio) || modes.contains(.externalAccessory)
                ? .audio : (modes.isEmpty ? .background : .elevatedInactive)
        }
    }

    /// Converts a band of iOS 15 and older (0 to 21) to today's scale; nil for a number that the old scale lacks.
    public static func band(before16 old: Int) -> JetsamBand? {
        let scale = [0, 10, 20, 30, 40, 50, 80, 90, 100, 120, 160, 170, 180, 190, 200, 210]
        let numbers = [0, 1, 2, 3, 4, 5, 8, 9, 10, 12, 16, 17, 18, 19, 20, 21]
        return numbers.firstIndex(of: old).map { JetsamBand(scale[$0]) }
    }
}
