import Quantities

/// Limits that apply to every policy. Nil: no such limit.
public struct Limits: Hashable, Sendable {
    /// How many processes may be off screen at once, suspended ones included.
    public var backgroundProcesses: Int?
    /// What all processes off screen together may hold.
    public var backgroundMemory: ByteCount?
    /// How long a process may run off screen without a background mode before it is suspended.
    public var backgroundTime: TimeSpan
    /// How many processes the policy may end within any 60 s.
    public var terminationsPerMinute: Int?
    /// A policy may not terminate a process younger than this.
    public var minimumStay: TimeSpan
    /// Apps that the policy may never end.
    public var protected: [AppID]
    /// Whether a policy may not terminate an app that plays audio off screen.
    public var protectAudible: Bool
    /// Whether a policy may not terminate a process on a screen. Real systems do that when nothing else is left.
    public var protectForeground = true

    /// How often a policy takes another candidate than its first choice: a fault.
    public var policyErrs = Ratio.zero

    /// Limits; by default only the background time of 30 s and the protection of audible apps and of the screen.
    public init(
        backgroundProcesses: Int? = nil, backgroundMemory: ByteCount? = nil, backgroundTime: TimeSpan = .seconds(30),
        terminationsPerMinute: Int? = nil, minimumStay: TimeSpan = .zero, protected: [AppID] = [],
        protectAudible: Bool = true
    ) {
        self.backgroundProcesses = backgroundProcesses
        self.backgroundMemory = backgroundMemory
        self.backgroundTime = backgroundTime
        self.terminationsPerMinute = terminationsPerMinute
        self.minimumStay = minimumStay
        self.protected = protected
        self.protectAudible = protectAudible
    }
}
