/// An app of the scenario, or a process of it that is no app: its position among both, dense from zero, the apps
/// first. It outlives its processes.
public struct AppID: Hashable, Comparable, Sendable {
    /// The position, from zero.
    public let index: Int
    @inlinable
    public init(_ index: Int) { self.index = index }
    @inlinable
    public static func < (a: AppID, b: AppID) -> Bool { a.index < b.index }
}

/// A process of the simulated device. Numbers rise from 1 in the order of launches and are never reused.
public struct ProcessID: Hashable, Comparable, Sendable {
    /// The number, from 1.
    public let number: Int
    @inlinable
    public init(_ number: Int) { self.number = number }
    @inlinable
    public static func < (a: ProcessID, b: ProcessID) -> Bool { a.number < b.number }
}

/// A scene session of one app: its number within the app, from 1 in the order of creation. It outlives the process.
public struct SceneID: Hashable, Comparable, Sendable {
    /// The number within the app, from 1.
    public let number: Int
    @inlinable
    public init(_ number: Int) { self.number = number }
    @inlinable
    public static func < (a: SceneID, b: SceneID) -> Bool { a.number < b.number }
}
