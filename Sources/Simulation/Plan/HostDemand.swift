import Memory
import Quantities
import Workload

/// The most that a run takes of the host's memory, estimated from its plan before anything is made.
///
/// It decides how much memory the host must have, and nothing in the run. It estimates the most that the scenario can
/// reach, not what it will reach: apps are assumed to be in front all the time, and the device to be filled by the apps
/// with the smallest objects.
public struct HostDemand: Hashable, Sendable {
    /// The device's pages; zero on the accounting backend, which has none.
    public var pages: ByteCount
    /// The books: tables of objects, pages and processes, and the sizes of objects that are being made.
    public var books: ByteCount
    /// How many objects the books may come to hold.
    public var objects: Int
    /// What else the harness takes, apart from what it holds already.
    public var harness = ByteCount.mebibytes(48)

    /// The sum of all parts.
    public var total: ByteCount { pages + books + harness }
}

extension RunPlan {
    /// The most that this run takes of the host's memory.
    ///
    /// - Parameter traces: The plan's traces, surveyed: how many objects they make.
    public func hostDemand(_ traces: any TraceLibrary = NoTraces()) -> HostDemand {
        let demands = appDemands()
        // The tables have the size that the full-scale device needs, whatever the scale.
        let whole = effectiveCeiling.unscaled(by: device.scale)
        let room = max(.zero, whole - device.reserved.unscaled(by: device.scale))
        let objects = Int(HostDemand.most(\.objectDensity, of: demands, in: room))
        let named = traced(traces, room)
        var books = BookCosts.object * objects + named.books + batches(demands)
        books += BookCosts.process(backend) * apps.count
        let pages = neededMemory(demands)
        books += HostDemand.pageBooks(backend, demands, pages)
        if device.scale != .one {
            // A scale model keeps its own tables, those of the full-scale device, and which of its objects the model
            // makes.
            books += HostDemand.pageBooks(.accounting, demands, pages.unscaled(by: device.scale))
            books += BookCosts.process(.accounting) * apps.count
            let made = min(ByteCount(objects) * device.scale, ByteCount(pages.bytes / 8))
            books += BookCosts.object * objects + BookCosts.object * made.bytes
        }
        return HostDemand(
            pages: backend == .jemalloc ? pages : .zero, books: books, objects: objects + named.objects)
    }

    /// The most that the run's device takes of the host's memory, if memory is real: what the apps come to hold if none
    /// is ended, as far as the scenario says, and at most the ceiling. An unbounded device is never filled, but it is
    /// no smaller than the scenario's own.
    ///
    /// It decides how much memory the host must have, and nothing in the run.
    public var neededMemory: ByteCount { neededMemory(appDemands()) }

    private func neededMemory(_ demands: [AppDemand]) -> ByteCount {
        let ceiling = effectiveCeiling
        var room = 0.0
        for demand in demands {
            guard let one = demand.room else { return ceiling }
            room += one
        }
        // Holes between objects and pages not yet given back: half as much again, and a part of a slab for each size
        // class.
        let lost = ByteCount.kibibytes(256) * apps.count
        let most = ByteCount(Int(min(room * 1.5, HostDemand.beyond))) * device.scale + lost
        let least = effectiveCeiling > device.ceiling ? device.ceiling : .zero
        return min(ceiling, max(least, device.reserved + most))
    }

    /// What the objects of the apps' traces take: their tables, and the names in a trace that is read again.
    private func traced(_ traces: any TraceLibrary, _ room: ByteCount) -> (objects: Int, books: ByteCount) {
        var (objects, books) = (0, ByteCount.zero)
        for app in apps {
            guard let trace = app.memory.trace else { continue }
            let survey = traces.survey(of: trace)
            // Each object takes at least 8 bytes of the device.
            let places = min(survey.peakObjects * trace.copiesOfEach, room.bytes / 8)
            objects += places
            books += BookCosts.namedObject * places
            // At the end of a round the live objects are listed and freed.
            if trace.ends == .loop { books += ByteCount(48) * places }
            if survey.lines > TraceProfile.longestKept { books += survey.names * 2 }
        }
        return (objects, books)
    }

    /// Sizes that are drawn but not yet made: one batch for the program, and the refused remainder of each app that
    /// waits.
    private func batches(_ demands: [AppDemand]) -> ByteCount {
        let slice = MemoryWorker.slice(of: device)
        let counts = demands.map { $0.objects(of: slice) }
        let copies = device.scale == .one ? ByteCount(24) : ByteCount(72)
        return copies * (counts.max() ?? 0) + ByteCount(8) * counts.reduce(0, +)
    }

    private func appDemands() -> [AppDemand] {
        var known: [(sizes: SizeDistribution, means: MeanSizes)] = []
        let costs = BookCosts()
        // The cap keeps sums finite; beyond it the estimate is too much for any host anyway.
        let span = min(duration, .hours(2_400))
        let slice = MemoryWorker.slice(of: device)
        return apps.enumerated().map { index, app in
            let means: MeanSizes
            if let same = known.first(where: { $0.sizes == app.memory.objects }) {
                means = same.means
            } else {
                means = MeanSizes(of: app.memory.objects, costs)
                known.append((app.memory.objects, means))
            }
            let further = app.scenes.multiple ? user.reduce(0) { $0 + $1.scenesOpened(by: AppID(index)) } : 0
            return AppDemand(app, over: span, scenes: 1 + further, means, slice)
        }
    }
}

extension HostDemand {
    /// More bytes than any host has, small enough that sums of it do not overflow.
    fileprivate static let beyond = 1e15

    /// The most of a quantity that a device full of objects can have, if no app holds more than it can.
    ///
    /// - Parameter density: The quantity per byte of room that an app's objects take.
    fileprivate static func most(
        _ density: KeyPath<AppDemand, Double>, of demands: [AppDemand], in room: ByteCount
    ) -> Double {
        var (left, sum) = (Double(room.bytes), 0.0)
        // The apps with the highest density come first; the index breaks ties.
        let ordered = demands.enumerated().sorted {
            ($1.element[keyPath: density], $0.offset) < ($0.element[keyPath: density], $1.offset)
        }
        for (_, demand) in ordered {
            let taken = min(left, demand.room ?? left)
            sum += taken * demand[keyPath: density]
            left -= taken
        }
        return sum
    }

    /// The tables for the pages of this much memory.
    fileprivate static func pageBooks(
        _ backend: MemoryBackend, _ demands: [AppDemand], _ room: ByteCount
    ) -> ByteCount {
        let pages = room.bytes / 4_096
        // Runs of pages that are not in use add half as many again, and no run is shorter than a page.
        let extents = min(pages, Int(most(\.extentDensity, of: demands, in: room) * 1.5))
        return BookCosts.extent(backend) * extents + BookCosts.page * pages
    }
}

/// The averages of the objects of a distribution.
private struct MeanSizes {
    let requested: Double
    /// The bytes of the device's pages that an object takes.
    let room: Double
    /// The runs of pages that an object takes.
    let extents: Double

    /// Averages a sample that is the same in every program.
    init(of sizes: SizeDistribution, _ costs: BookCosts) {
        let sampler = SizeSampler(sizes)
        var generator = SeededGenerator(seed: 0, stream: "host/sizes")
        var (requested, room, extents) = (0, 0, 0.0)
        let count = 4_096
        for _ in 0..<count {
            let size = sampler.next(using: &generator)
            requested += size
            let one = costs.room(of: size)
            room += one
            extents += costs.extents(ofRoom: one)
        }
        self.requested = Double(requested) / Double(count)
        self.room = Double(room) / Double(count)
        self.extents = extents / Double(count)
    }
}

/// The most that one app comes to hold.
private struct AppDemand {
    /// The bytes that it requests; nil if the scenario sets no bound.
    private let held: ByteCount?
    /// Objects that are smaller than drawn: the last one of each portion that the app requests is cut.
    private let cuts: Double
    private let hasTrace: Bool
    private let means: MeanSizes

    init(_ app: AppProfile, over span: TimeSpan, scenes: Int, _ means: MeanSizes, _ slice: ByteCount) {
        self.means = means
        hasTrace = app.memory.trace != nil
        let most = app.mostHeld(over: span, scenes: scenes)
        let bounded = min(most, MemoryLimits.highestCeiling)
        held = !hasTrace && !app.abandonsScenes ? bounded : nil
        let portions = app.memory.portions(over: span) * Double(scenes) + Double(bounded.bytes / slice.bytes)
        cuts = min(portions, Double(bounded.bytes))
    }

    private var drawn: Double? { held.map { Double($0.bytes) / means.requested } }

    /// The bytes of pages that its objects take; nil without a bound. A cut object is small.
    var room: Double? { drawn.map { $0 * means.room + cuts * min(means.room, 16) } }

    /// Objects per byte of that room.
    var objectDensity: Double {
        guard let drawn, let room, room > 0 else { return 1 / means.room }
        return (drawn + cuts) / room
    }

    /// Runs of pages per byte; a trace's objects may have any size.
    var extentDensity: Double { hasTrace ? 1 / 4_096 : means.extents / means.room }

    /// How many objects this many bytes are, or all bytes that the app requests if they are fewer.
    func objects(of bytes: ByteCount) -> Int {
        Int(Double(min(bytes, held ?? bytes).bytes) / means.requested) + 1
    }
}

extension AppProfile {
    fileprivate func mostHeld(over span: TimeSpan, scenes: Int) -> ByteCount {
        let first = memory.base + memory.scene + memory.gain(from: .zero, over: span, cache: .zero)
        let further = max(memory.scene, memory.sceneGrowth.upTo) * (scenes - 1)
        return first + further + deferred.memory + background.snapshot
    }

    /// Whether part of its scenes' memory may stay each time they disconnect.
    fileprivate var abandonsScenes: Bool { disconnect.frees < .one || disconnect.ignores > .zero }
}

extension MemoryProfile {
    /// The number of portions, one for each movement, in which the app requests memory beyond its base and scenes.
    fileprivate func portions(over span: TimeSpan) -> Double {
        func movements(_ seconds: Double) -> Double {
            min(seconds, Double(span.microseconds) / 1e6) * 1e6 / Double(AppWorkload.interval.microseconds) + 2
        }
        func movements(_ time: TimeSpan) -> Double { movements(Double(time.microseconds) / 1e6) }
        func movements(_ bytes: ByteCount, at rate: ByteRate) -> Double {
            rate > .zero && bytes > .zero ? movements(Double(bytes.bytes) / Double(rate.bytesPerSecond)) : 0
        }
        var count = leak > .zero ? movements(span) : 0
        count += movements(growth.upTo, at: growth.rate) + movements(sceneGrowth.upTo, at: sceneGrowth.rate)
        count += movements(cache.size, at: cache.rate) + movements(cache.size, at: cache.turnover)
        count += churn.rate > .zero ? movements(churn.lifetime) : 0
        count += sawTooth.size > .zero ? movements(sawTooth.period) : 0
        return bursts.reduce(count) { $0 + movements($1.over) }
    }
}

extension UserEntry {
    /// How often it opens a further scene of the app, on a second display too.
    fileprivate func scenesOpened(by app: AppID) -> Int {
        switch self {
        case .once(.openScene(app), _), .once(.showOnDisplay(app), _): 1
        case .repeated(.openScene(app), let repetition), .repeated(.showOnDisplay(app), let repetition):
            repetition.count
        case .once, .repeated, .model: 0
        }
    }
}
