import Quantities

/// A process that is alive when the run begins.
public struct StartedProcess: Hashable, Sendable {
    /// What it does at the start.
    public enum State: String, CaseIterable, Sendable {
        /// On the screen and active.
        case front
        /// Running off screen, for the reasons that it would have after leaving the screen now.
        case background
        /// In memory without running code; a daemon is idle.
        case suspended
        /// The system has begun the app's launch ahead of time: none of its code has run.
        case prewarmed
    }

    /// Which app, or which process that is no app.
    public var process: AppID
    /// What it does at the start.
    public var state = State.suspended
    /// What it holds; nil: its base, and its scenes.
    public var footprint: ByteCount?
    /// The part of the footprint that the device's compressor holds; at most the footprint.
    public var compressed = ByteCount.zero
    /// Its jetsam band until its state changes; nil: the band that follows from its state.
    public var band: Int?
    /// How long ago it was launched.
    public var age = TimeSpan.minutes(10)
    /// How long ago it was last in front, or last worked.
    public var idle = TimeSpan.minutes(5)
    /// How many scenes of an app are connected.
    public var scenes = 1
    /// The times from its last ends by the system to its next launches, the oldest first.
    public var relaunched: [TimeSpan] = []

    /// A suspended process that was launched 10 min ago and last used 5 min ago.
    public init(_ process: AppID) { self.process = process }
}
