import Lifecycle
import Quantities

/// What processors were used for.
public enum CPUPurpose: Int, CaseIterable, Sendable {
    /// The main thread of an app that is being launched.
    case launch
    /// The main thread at any other time.
    case callbacks
    /// Work that apps have moved off their main threads.
    case deferred
    /// Frames of the app in front.
    case frames
    /// What apps use off screen, apart from callbacks.
    case background
    /// The system takes pages back and ends processes.
    case reclaim
}

/// The time of a run's cores.
public struct CPUTally: Sendable {
    /// The time on cores for each purpose, indexed by its raw value.
    public var purposes = [TimeSpan](repeating: .zero, count: CPUPurpose.allCases.count)
    /// The time that the work of each class of service was kept from a core, indexed by its raw value.
    public var waits = [TimeSpan](repeating: .zero, count: ServiceClass.allCases.count)
    /// Frames that were due in the app in front.
    public var frames = 0
    /// Frames that were not ready in time.
    public var lateFrames = 0

    /// A tally in which nothing has run yet.
    public init() {}
}
