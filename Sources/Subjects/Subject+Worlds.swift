import Memory
import Metrics
import Plan
import Quantities
import Scenario
import Simulation
import Worlds

// The engine, by scenarios that the bytes choose.
extension Subject {
    /// The longest run, and the most apps.
    private static let longestRun = TimeSpan.seconds(20)
    private static let mostApps = 8

    /// The first bytes are the seed of a world, and the others edit it towards the edges of the format. What the loader
    /// accepts runs with every check.
    static let world = Subject(name: "world", input: "a random scenario, edited", longest: 48) {
        bytes throws(Finding) in
        var choices = ByteChoices(bytes)
        var document = World(seed: choices.seed(), backend: .accounting).document
            .small(apps: mostApps, longest: longestRun)
        var plan: RunPlan?
        while !choices.isEmpty {
            let edited = document.edited { choices.below($0) }
            switch ScenarioLoader.load(text: edited.denseYAML, file: "world.yaml") {
            case .success(let valid): (document, plan) = (edited, valid)
            case .failure(let fault): try Claims.hold(of: fault, in: ["world.yaml"])
            }
        }
        guard let plan else { return false }
        try Claims.areTheSameAgain(plan)
        try runs(plan)
        return true
    }

    private static func runs(_ plan: RunPlan) throws(Finding) {
        var plan = plan
        guard plan.duration <= longestRun, plan.apps.allSatisfy({ $0.memory.trace == nil }) else { return }
        // About two thousand samples are enough, and the accounting backend has no contents.
        guard plan.duration.microseconds / max(1, plan.monitor.interval.microseconds) <= 2_000 else { return }
        if plan.backend == .jemalloc, plan.device.compressor?.codec == .lz4 { return }
        plan.backend = .accounting
        do {
            let memory = try plan.makeDevice()
            let simulation = Simulation(plan, memory: memory, sinks: RunSinks { _ in NullSink() }, verify: true)
            _ = try simulation.run()
        } catch {
            try Claims.isRefusal(error)
        }
    }
}

/// Numbers that bytes choose.
private struct ByteChoices {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isEmpty: Bool { rest.isEmpty }

    /// The first two bytes.
    mutating func seed() -> UInt64 { UInt64(next()) << 8 | UInt64(next()) }

    /// A number below the bound; zero when no byte is left.
    mutating func below(_ bound: Int) -> Int {
        var number = Int(next())
        if bound > 256 { number = number << 8 | Int(next()) }
        return number % max(1, bound)
    }

    private mutating func next() -> UInt8 { rest.popFirst() ?? 0 }
}
