import Memory
import Worlds

/// Makes a failing world smaller while it fails in the same way, options first.
struct Shrinking {
    private var world: World
    private let fault: Fault
    private let orders: Crew.Orders

    /// The most runs for shrinking. A small world takes a tenth of a second.
    private static let questions = 2_500
    private let deadline: ContinuousClock.Instant

    /// - Parameter seconds: The approximate time limit.
    init(_ world: World, _ fault: Fault, _ orders: Crew.Orders, seconds: Double) {
        (self.world, self.fault, self.orders) = (world, fault, orders)
        deadline = .now + .seconds(seconds)
    }

    mutating func run() -> World {
        simplifyOptions()
        // From here on, only the check that failed is made.
        let (world, fault, orders, deadline) = (world, fault, orders, deadline)
        var shrinker = Shrinker(world.document, questions: Shrinking.questions) { document in
            var smaller = world
            smaller.document = document
            return ContinuousClock.now < deadline && Shrinking.fails(smaller, fault, orders)
        }
        shrinker.shrink()
        self.world.document = shrinker.document
        simplifyOptions()
        return self.world
    }

    private mutating func simplifyOptions() {
        let changes: [(inout World) -> Void] = [
            { $0.options.writesTimeline = false }, { $0.options.writesReports = false }, { $0.options.scale = nil },
            { $0.options.isDryRun = false }, { $0.options.backend = .accounting }, { $0.policyFile = nil },
            { $0.inlinePolicy() },
        ]
        for change in changes {
            var simpler = world
            change(&simpler)
            let isOther = simpler.document != world.document || simpler.options != world.options
            guard isOther || simpler.policyFile != world.policyFile else { continue }
            if Shrinking.fails(simpler, fault, orders) { world = simpler }
        }
    }

    private static func fails(_ world: World, _ fault: Fault, _ orders: Crew.Orders) -> Bool {
        let trial = Trial(
            world: world, program: orders.program, folder: "\(orders.work)/shrinking",
            checks: [fault.check], seconds: fault.kind == Fault.hung ? orders.seconds / 10 : orders.seconds)
        do {
            _ = try trial.run()
            return false
        } catch {
            return error.isSame(as: fault)
        }
    }
}
