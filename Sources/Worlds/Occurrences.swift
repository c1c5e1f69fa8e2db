/// Counts in how many worlds each thing occurred.
package struct Occurrences: Sendable {
    package private(set) var worlds = 0
    private var counts: [String: Int] = [:]

    package init() {}

    /// Adds a world. A thing that occurs several times in it counts once.
    package mutating func add(_ things: [String]) {
        worlds += 1
        for thing in Set(things) { counts[thing, default: 0] += 1 }
    }

    package func count(of thing: String) -> Int { counts[thing] ?? 0 }

    /// The things that occurred in fewer worlds than `least`, in their order.
    package func rare(_ things: [String], below least: Int) -> [(thing: String, count: Int)] {
        things.filter { count(of: $0) < least }.map { ($0, count(of: $0)) }
    }
}
