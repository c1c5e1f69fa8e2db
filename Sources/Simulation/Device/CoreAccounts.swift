import Lifecycle
import Quantities

/// The time of the cores so far, by class of service.
struct CoreAccounts: Hashable {
    /// The time that cores have worked for each class, all cores added up; indexed by the class's raw value.
    var given = CoreAccounts.nothing
    /// The time that the work of each class was kept from a core, all pieces added up.
    var waited = CoreAccounts.nothing

    private static let nothing = [TimeSpan](repeating: .zero, count: ServiceClass.allCases.count)

    var givenInAll: TimeSpan { given.reduce(.zero, +) }
}
