import Lifecycle
import Quantities

/// The time of the cores so far, by class of service. Nothing of it is allocated, because every sample copies it.
struct CoreAccounts {
    typealias Times = InlineArray<5, TimeSpan>

    /// The time that cores have worked for each class, all cores added up; indexed by the class's raw value.
    var given = Times(repeating: .zero)
    /// The time that the work of each class was kept from a core, all pieces added up.
    var waited = Times(repeating: .zero)

    var givenInAll: TimeSpan { CoreAccounts.sum(of: given) }
    var waitedInAll: TimeSpan { CoreAccounts.sum(of: waited) }

    private static func sum(of times: Times) -> TimeSpan {
        var sum = TimeSpan.zero
        for index in times.indices { sum += times[index] }
        return sum
    }

    /// What was added since.
    static func - (a: CoreAccounts, b: CoreAccounts) -> CoreAccounts {
        var difference = CoreAccounts()
        for index in a.given.indices {
            difference.given[index] = a.given[index] - b.given[index]
            difference.waited[index] = a.waited[index] - b.waited[index]
        }
        return difference
    }
}
