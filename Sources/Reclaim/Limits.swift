import Quantities

/// Limits that stand above any policy. Nil: no such limit.
public struct Limits: Hashable, Sendable {
    /// How many processes may be off screen at once, suspended ones included.
    public var backgroundProcesses: Int?
    /// What the processes off screen may hold together.
    public var backgroundMemory: ByteCount?
    /// How long a process may run off screen without a background mode before it is suspended.
    public var backgroundTime: TimeSpan
    /// How many terminations a policy may order within any 60 s.
    public var terminationsPerMinute: Int?
    /// A process this young is not terminated by a policy.
    public var minimumStay: TimeSpan
    /// Apps that a policy may never terminate.
    public var protected: [AppID]
    /// An app that plays audio off screen is not terminated by a policy.
    public var protectAudible: Bool

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
