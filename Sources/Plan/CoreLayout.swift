import Quantities

/// The cores of a device, in clusters of one speed each.
public struct CoreLayout: Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// Cores of the same speed.
    public struct Cluster: Hashable, Sendable {
        /// How many cores it has; at least one.
        public var count: Int
        /// The speed, as a share of a performance core's; more than zero, at most one.
        public var speed: Ratio

        /// A cluster of slow cores.
        public init(count: Int, speed: Ratio) {
            self.count = count
            self.speed = speed
        }
    }

    /// The cores of full speed; at least one.
    public var performance: Int
    /// The slow cores. Work in the background keeps to them and to those of `further` clusters.
    public var efficiency = 0
    /// The speed of an efficiency core, as a share of a performance core's. 30 % is a guess: an efficiency core of the
    /// M1 has half the units of a performance core and runs background work at about a third of its clock; nothing is
    /// published about phones.
    public var efficiencySpeed = Ratio.percent(30)
    /// Further clusters of slow cores.
    public var further: [Cluster] = []
    /// Whether more urgent work goes first. Without priorities all work shares the cores equally.
    public var priorities = true

    /// Cores of one speed.
    public init(_ performance: Int) { self.performance = performance }

    /// Cores of one speed.
    public init(integerLiteral value: Int) { self.init(value) }

    /// How many cores there are.
    public var count: Int { performance + efficiency + further.reduce(0) { $0 + $1.count } }

    /// All clusters, the fastest first; the first one has the performance cores.
    public var clusters: [Cluster] {
        let slow = [Cluster(count: efficiency, speed: efficiencySpeed)] + further
        let sorted = slow.filter { $0.count > 0 }.sorted { $0.speed > $1.speed }
        return [Cluster(count: performance, speed: .one)] + sorted
    }
}
