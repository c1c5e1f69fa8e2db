import Lifecycle
import Pressure
import Quantities

@testable import Reclaim

/// Random moments for a policy's decision, drawn from a seed, with everything that a policy can see.
struct RandomMoments {
    private var random: SeededGenerator
    /// What only some devices have is drawn apart, so that it changes no other draw.
    private var parts: SeededGenerator
    private var lmkd: SeededGenerator
    /// What only Linux's daemons read is drawn apart, too.
    private var daemons: SeededGenerator

    init(seed: UInt64, stream: String) {
        random = SeededGenerator(seed: seed, stream: stream)
        parts = SeededGenerator(seed: seed, stream: "parts of \(stream)")
        lmkd = SeededGenerator(seed: seed, stream: "lmkd of \(stream)")
        daemons = SeededGenerator(seed: seed, stream: "daemons of \(stream)")
    }

    mutating func next() -> SystemSnapshot {
        let ceiling = pick([ByteCount.mebibytes(256), .mebibytes(1_000), .gibibytes(4)])
        // Most thresholds concern scarce memory, so scarce amounts are frequent.
        let available = ceiling * Ratio(partsPerMillion: Int64(number(0, number(1, 10) * 100_000)))
        let processes = self.processes()
        var snapshot = SystemSnapshot(
            now: now, demand: demand(processes), level: pick(PressureLevel.allCases), ceiling: ceiling,
            resident: ceiling - available, available: available, threshold: ceiling * .percent(10),
            processes: processes, monitor: .ios)
        snapshot.measures = measures(of: ceiling)
        snapshot.history = history(processes)
        snapshot.oracle = oracle()
        snapshot.seed = random.next()
        addKernel(to: &snapshot)
        addPurgeable(to: &snapshot)
        addCourse(to: &snapshot)
        addReclaim(to: &snapshot)
        return snapshot
    }

    /// Gives some of the devices a kernel, and jetsam a sweep and rounds that it has made.
    private mutating func addKernel(to snapshot: inout SystemSnapshot) {
        if parts.chance(.percent(20)) {
            let kernels = JetsamKernel.allCases
            snapshot.device.kernel = kernels[parts.number(in: 0...kernels.count - 1)]
        }
        if parts.chance(.percent(20)) {
            snapshot.history.course.swept = now - .seconds(Int64(parts.number(in: 0...900)))
        }
        guard parts.chance(.percent(20)) else { return }
        snapshot.history.course.windowBegan = now - .milliseconds(Int64(parts.number(in: 0...20_000)))
        snapshot.history.course.rounds = parts.number(in: 0...5)
    }

    /// lmkd has looked before at some of the moments, and has killed for what the history says last.
    private mutating func addCourse(to snapshot: inout SystemSnapshot) {
        guard lmkd.chance(.percent(50)) else { return }
        var course = LMKDCourse()
        func ago(_ most: Int) -> Instant { now - .milliseconds(Int64(lmkd.number(in: 0...most))) }
        (course.lookedAt, course.pollsSince) = (ago(400), ago(2_000))
        course.pollsFast = lmkd.chance(.percent(50))
        course.checksFileCache = lmkd.chance(.percent(50))
        if lmkd.chance(.percent(50)) { course.directSince = ago(10_000) }
        if lmkd.chance(.percent(50)) { course.completeAt = ago(2_000) }
        if let kill = snapshot.history.lastKill, lmkd.chance(.percent(70)) {
            course.request = .init(at: kill, lowersLimit: lmkd.chance(.percent(50)))
        }
        if lmkd.chance(.percent(50)) { snapshot.measures.returning = .mebibytes(lmkd.number(in: 1...20)) }
        snapshot.history.lmkd = course
    }

    /// When memory was reclaimed, what systemd-oomd has killed, and what of a victim is still in swap.
    private mutating func addReclaim(to snapshot: inout SystemSnapshot) {
        if daemons.chance(.percent(80)) {
            snapshot.measures.lastReclaim = now - .seconds(Int64(daemons.number(in: 0...60)))
        }
        if daemons.chance(.percent(20)) {
            snapshot.measures.returningSwap = .mebibytes(daemons.number(in: 1...60))
        }
        for index in snapshot.history.kills.indices where daemons.chance(.percent(50)) {
            snapshot.history.kills[index].rule = daemons.number(in: 0...1)
        }
        for index in snapshot.processes.indices where daemons.chance(.percent(20)) {
            snapshot.processes[index].linux.preference = daemons.chance(.percent(50)) ? .avoid : .omit
        }
    }

    /// Some processes have purgeable memory.
    private mutating func addPurgeable(to snapshot: inout SystemSnapshot) {
        for index in snapshot.processes.indices where parts.chance(.percent(20)) {
            snapshot.processes[index].memory.purgeable = .mebibytes(parts.number(in: 1...20))
        }
    }

    private mutating func number(_ low: Int, _ high: Int) -> Int { random.number(in: low...max(low, high)) }

    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(0, elements.count - 1)] }

    private mutating func chance(_ percent: Int64) -> Bool { random.chance(.percent(percent)) }

    private mutating func demand(_ processes: [ProcessSnapshot]) -> ReclaimDemand {
        switch number(0, 6) {
        case 0: .allocation(by: processes.last?.pid ?? ProcessID(99), wanted: .mebibytes(number(1, 90)))
        case 1: .backgroundProcesses(excess: number(1, 3))
        case 2: .backgroundMemory(excess: .mebibytes(number(1, 90)))
        case 3, 4: .pressure(deficit: .mebibytes(number(1, 200)))
        default: .nothing
        }
    }

    /// An instant in the past, at most this many milliseconds ago; recent instants are as frequent as older ones.
    private mutating func ago(_ most: Int = 900_000) -> Instant {
        now - .milliseconds(Int64(number(0, pick([100, 1_000, 10_000, most]))))
    }

    private mutating func processes() -> [ProcessSnapshot] {
        let areAlike = chance(30)
        return (0..<number(areAlike ? 4 : 0, 9)).map { index in
            let phase =
                areAlike && index > 0 ? .suspended : pick([ProcessPhase.active, .background, .suspended, .suspended])
            let modes: [BackgroundMode] = phase == .background && chance(50) ? [pick([.audio, .location])] : []
            let scene: ScenePhase? = chance(40) ? (phase.isForeground ? .foregroundActive : .background) : nil
            return process(
                index, phase, idle: Int64(number(0, pick([20, 100, 900]))), size: number(1, pick([20, 300])),
                dirty: pick([0, 0, 1, 4, 20]), scene: scene, modes: modes
            ) { decorate(&$0, areAlike) }
        }
    }

    private mutating func decorate(_ process: inout ProcessSnapshot, _ areAlike: Bool) {
        process.positionedAt = ago()
        if process.phase == .background && chance(50) { process.band = pick([.background, .interfaceSupport]) }
        process.relaunchCost = .milliseconds(Int64(number(100, 9_000)))
        process.swapped = .mebibytes(pick([0, number(0, 50)]))
        process.recentlyReclaimed = .mebibytes(pick([0, number(0, 50)]))
        if areAlike || chance(30) { process.relaunchIntervals = [.seconds(areAlike ? 1 : Int64(number(1, 20)))] }
        if chance(30) { process.limit = MemoryLimit(bytes: .mebibytes(number(1, 100)), isFatal: chance(50)) }
        if chance(30) { (process.warnedAt, process.answersWarning) = (ago(), true) }
        process.isEnding = chance(10)
        if chance(20) { process.declaredOomScoreAdj = number(-1_000, 1_000) }
    }

    private mutating func measures(of ceiling: ByteCount) -> SystemMeasures {
        var measures = SystemMeasures()
        if chance(50) {
            measures.swapTotal = ceiling
            measures.swapFree = ceiling * .percent(Int64(number(0, 30)))
        }
        if chance(30) { measures.fileBacked = ceiling * .percent(Int64(number(0, 10))) }
        if chance(50) { measures.thrashing = .percent(Int64(number(0, 400))) }
        measures.directReclaim = chance(50)
        measures.someLost = .milliseconds(Int64(number(0, 400)))
        measures.fullLost = .milliseconds(chance(60) ? 0 : Int64(number(0, 1_000)))
        let share = StallAverages(avg10: .percent(Int64(number(0, 100))))
        measures.full = share
        for second in stride(from: Int64(number(0, 60)), through: 0, by: -2) {
            measures.stallUpdates.append(.init(at: now - .seconds(second), some: share, full: share))
        }
        return measures
    }

    private mutating func history(_ processes: [ProcessSnapshot]) -> ReclaimHistory {
        var history = ReclaimHistory()
        history.levelSince = ago()
        if chance(50) { history.notNormalSince = ago() }
        if chance(30) { history.lastAction = ago() }
        let causes: [KillCause?] = [nil, .sustainedPressure, .processThrashing, .fileCacheThrashing]
        let times = (0..<pick([0, 0, 1, 2, 5])).map { _ in ago(60_000) }.sorted()
        let cause = pick(causes)
        // A process that is ending was probably asked to.
        let asked = processes.first(where: \.isEnding)?.pid ?? ProcessID(70)
        for at in times {
            history.kills.append(
                .init(
                    at: at, pid: at == times.last ? asked : ProcessID(70), band: .idle,
                    cause: chance(20) ? pick(causes) : cause, footprint: .zero))
        }
        if chance(50) {
            history.idleAtSustained = max(1, processes.count { $0.band == .idle })
            history.sustainedKills = number(1, 4)
        }
        return history
    }

    private mutating func oracle() -> Oracle {
        var oracle = Oracle(nextLaunch: [])
        for _ in 0..<10 {
            let launches = (0..<number(0, 3)).map { _ in now + .seconds(Int64(number(1, 900))) }.sorted()
            oracle.launches.append(launches)
            oracle.nextLaunch.append(launches.first)
            oracle.sizes.append(.mebibytes(number(1, 300)))
        }
        return oracle
    }

    /// Another value of a parameter: an end of its range, or any number within it, small ones as often as large ones.
    mutating func value(of parameter: PolicyParameter) -> ParameterValue {
        if !parameter.choices.isEmpty { return .choice(pick(parameter.choices)) }
        switch parameter.standard {
        case .flag(let flag): return .flag(!flag)
        case .names: return .names(["app\(number(0, 9))"])
        case .ratio, .bytes, .time, .count, .decimal, .choice, .table: break
        }
        guard let numbers = parameter.numbers else { preconditionFailure("\(parameter.name) has no range") }
        if chance(20) { return chance(50) ? parameter.lowest : parameter.highest }
        let most = numbers.upperBound >> Int64(number(0, 40))
        return parameter.value(min(max(Int64(number(0, Int(most))), numbers.lowerBound), numbers.upperBound))
    }
}
