import Explanation
import Memory
import Metrics
import Plan
import Quantities
import Reclaim
import Scenario
import Simulation
import Workload

/// Plays runs on the accounting backend and reports what became of one app. It has no state, so several runs can be
/// played at once.
public struct FatePlayer: Sendable {
    private let traces: any TraceLibrary
    private let isInterrupted: @Sendable () -> Bool

    /// The runs were interrupted.
    public struct Interrupted: Error {}

    /// - Parameters:
    ///   - traces: The traces that the plan's apps play.
    ///   - isInterrupted: Asked at every sample; true ends the run with `Interrupted`.
    public init(traces: any TraceLibrary = NoTraces(), isInterrupted: @escaping @Sendable () -> Bool = { false }) {
        (self.traces, self.isInterrupted) = (traces, isInterrupted)
    }

    /// Plays a plan.
    ///
    /// - Parameter untilEnd: Whether the run is over with the first end of the app that counts.
    public func fate(of app: Int, in plan: RunPlan, untilEnd: Bool) throws -> Fate {
        let plan = plan.onAccounting
        let memory = try plan.makeDevice()
        let simulation = Simulation(plan, memory: memory, sinks: RunSinks { _ in NullSink() }, traces: traces)
        simulation.keepEvents()
        var watch = FateWatch(
            of: plan.apps[app].name, startingAs: plan.start.first { $0.process.index == app }?.state)
        var isGivenUp = false
        let ending = try simulation.run(shouldStop: {
            for event in simulation.takeEvents() { watch.take(event) }
            isGivenUp = isInterrupted()
            return isGivenUp || untilEnd && watch.fate.death != nil
        })
        guard !isGivenUp else { throw Interrupted() }
        // A run that is stopped goes on to its next sample; what happens there is not looked at.
        if ending == .completed { for event in simulation.takeEvents() { watch.take(event) } }
        return watch.closed(at: simulation.now, simulation.tally, isWhole: ending == .completed)
    }

    /// The peak memory of an app alone in the foreground for `LoneApp.time`, or of another process at work.
    public func peak(of app: AppProfile) throws -> ByteCount {
        let plan = LoneApp(app).plan
        let memory = try plan.makeDevice()
        let simulation = Simulation(plan, memory: memory, sinks: RunSinks { _ in NullSink() }, traces: traces)
        guard try simulation.run(shouldStop: { isInterrupted() }) == .completed else { throw Interrupted() }
        guard app.part == nil else { return simulation.tally.apps.last?.peakFootprint ?? .zero }
        return memory.books.peakResident - plan.device.reserved
    }
}

/// One app alone on a device that never lacks memory, to measure the memory that the app's figures amount to.
///
/// A process that is no app works, too: a helper beside an app in front, a keyboard or a sheet over it, any other
/// process for the 30 s that the system grants it.
public struct LoneApp {
    /// How long the app is in the foreground.
    public static let time = TimeSpan.minutes(10)
    /// The memory of the device that the system keeps.
    public static let reserved = ByteCount.mebibytes(1)

    private let app: AppProfile

    /// The app by itself.
    public init(_ app: AppProfile) { self.app = app }

    /// The plan of the run: seed 1 on the accounting backend.
    public var plan: RunPlan {
        var (apps, user) = ([app], [UserEntry.once(.launch(AppID(0)), at: .zero)])
        if let part = app.part { (apps, user) = beside(part) }
        return RunPlan(
            name: "trial", seed: 1, duration: LoneApp.time,
            device: Device(ceiling: ceiling, reserved: LoneApp.reserved), monitor: .ios,
            policy: PolicySettings(name: "none"), limits: Limits(), apps: apps, user: user, backend: .accounting)
    }

    /// The process at work beside an app in front.
    private func beside(_ part: ProcessPart) -> ([AppProfile], [UserEntry]) {
        var (front, own) = (Archetype.plain.profile, app)
        front.name = "front of \(app.name)"
        own.part?.host = part.kind.family == .helper ? AppID(0) : nil
        let start = Instant.zero + .seconds(5)
        var user = [UserEntry.once(.launch(AppID(0)), at: .zero)]
        if part.kind.isPresented {
            user.append(.once(.present(AppID(1), lasting: LoneApp.time), at: start))
        } else if part.kind.family != .helper {
            user.append(.once(.wake(AppID(1), .demand, lasting: Limits().backgroundTime), at: start))
        }
        return ([front, own], user)
    }

    /// More memory than the app wants: 8 GiB, as long as it is at most half of that.
    private var ceiling: ByteCount {
        let wanted = app.sizes.reduce(ByteCount.zero) { $0 + app[keyPath: $1.path] }
        return wanted <= .gibibytes(4) ? .gibibytes(8) : MemoryLimits.highestCeiling
    }
}

/// An app at other footprints.
///
/// The footprint of an app is its most memory in ten minutes in the foreground, from a run of the app alone
/// (`LoneApp`): the peak that `plimsoll list apps` prints. That of another process is its own peak at work. At
/// another footprint all sizes of the app, and the rates at which it grows and fills its cache, are multiplied by one
/// factor. So the app reaches its sizes at the same times.
public struct Sizing {
    private let profile: AppProfile
    private let player: FatePlayer
    /// The footprint of the app as it is.
    public let present: ByteCount
    private let half: ByteCount

    /// Why an app has no other sizes; nil if it has.
    public static func obstacle(of app: AppProfile) -> String? {
        app.memory.trace == nil ? nil : "it plays an allocation trace, which has one size"
    }

    /// Measures the app. Plays two runs of the app alone.
    public init(_ profile: AppProfile, player: FatePlayer) throws {
        var profile = profile
        // A fatal limit of its own would end the app in the measurement.
        profile.limits = ProcessLimits()
        (self.profile, self.player) = (profile, player)
        present = try player.peak(of: profile)
        half = try player.peak(of: profile.times(.percent(50)))
    }

    /// The app of the given footprint, to within 1 %, or as near as whole pages allow.
    public func app(_ original: AppProfile, at footprint: ByteCount) throws -> AppProfile {
        guard footprint != present else { return original }
        // Nearly a straight line: a part that does not scale, and one that does.
        let slope = max(1, Double((present - half).bytes) * 2)
        var factor = 1 + Double((footprint - present).bytes) / slope
        for _ in 0..<3 {
            let got = try player.peak(of: profile.times(Sizing.ratio(factor)))
            let error = Double((footprint - got).bytes)
            if abs(error) <= Double(footprint.bytes) / 200 { break }
            factor += error / slope
        }
        return original.times(Sizing.ratio(factor))
    }

    /// The plan with the app at the given footprint. A process of it that is alive when the run begins holds
    /// accordingly more or less.
    public func plan(_ plan: RunPlan, app: Int, at footprint: ByteCount) throws -> RunPlan {
        var plan = plan
        plan.apps[app] = try self.app(plan.apps[app], at: footprint)
        for place in plan.start.indices where plan.start[place].process.index == app {
            func resized(_ held: ByteCount) -> ByteCount {
                ByteCount(Int(Double(held.bytes) * Double(footprint.bytes) / Double(present.bytes)) & ~0xFFF)
            }
            plan.start[place].footprint = plan.start[place].footprint.map(resized)
            plan.start[place].compressed = resized(plan.start[place].compressed)
        }
        return plan
    }

    /// From a thousandth of the app to a thousand times it.
    private static func ratio(_ factor: Double) -> Ratio {
        Ratio(partsPerMillion: Int64(min(max(factor, 0.001), 1_000) * 1_000_000))
    }
}

extension AppProfile {
    /// The app with all its sizes, and the rates at which it grows, multiplied by a factor.
    func times(_ factor: Ratio) -> AppProfile {
        var app = self
        for size in sizes { app[keyPath: size.path] = (self[keyPath: size.path] * factor).roundedDown }
        app.memory.cache.rate = memory.cache.rate.times(factor)
        app.memory.growth.rate = memory.growth.rate.times(factor)
        app.memory.sceneGrowth.rate = memory.sceneGrowth.rate.times(factor)
        return app
    }
}

extension ByteCount {
    /// To whole pages.
    fileprivate var roundedDown: ByteCount { ByteCount(bytes & ~0xFFF) }
}

extension ByteRate {
    fileprivate func times(_ factor: Ratio) -> ByteRate {
        ByteRate(bytesPerSecond: (ByteCount(bytesPerSecond) * factor).bytes)
    }
}
