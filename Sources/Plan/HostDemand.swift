import Memory
import Quantities
import Workload

/// An estimate of the most host memory that a run takes, made from its plan before anything is created.
///
/// The estimate decides only how much memory the host must have; it affects nothing in the run. It covers the most
/// that the scenario can reach, not what it will reach: it assumes that all apps are in front all the time, and that
/// the apps with the smallest objects fill the device.
public struct HostDemand: Hashable, Sendable {
    /// The device's pages; zero on the accounting backend, which has none.
    public var pages: ByteCount
    /// The bookkeeping: tables of objects, pages and processes, and the sizes of objects that are being made.
    public var books: ByteCount
    /// The most objects that the bookkeeping may hold.
    public var objects: Int
    /// The rest of the program's memory, beyond what it holds before the run.
    public var harness = ByteCount.mebibytes(48)

    /// The sum of all parts.
    public var total: ByteCount { pages + books + harness }
}

extension RunPlan {
    /// Estimates the most host memory that this run takes.
    ///
    /// - Parameter traces: The surveyed traces of the plan, which tell how many objects they make.
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
        // Up to three times the ceiling may be handed out, most of it compressed.
        if device.compressor != nil {
            let kept = effectiveCeiling + (device.scale == .one ? .zero : whole)
            books += (BookCosts.frame + BookCosts.page) * (kept.bytes / 4_096 * 3)
            if device.compressor?.codec == .lz4 { books += BookCosts.contents * (kept.bytes / 4_096 * 3) }
        }
        if device.scale != .one {
            // A scale model also keeps tables of its own: those of the full-scale device, and for each of its objects
            // whether the model makes it.
            books += HostDemand.pageBooks(.accounting, demands, pages.unscaled(by: device.scale))
            books += BookCosts.process(.accounting) * apps.count
            let made = min(ByteCount(objects) * device.scale, ByteCount(pages.bytes / 8))
            books += BookCosts.object * objects + BookCosts.object * made.bytes
        }
        return HostDemand(
            pages: backend == .jemalloc ? pages : .zero, books: books, objects: objects + named.objects)
    }

    /// The most host memory that the run's device takes, if memory is real: the memory that the apps hold if none is
    /// ended, as far as the scenario says, and at most the ceiling. An unbounded device is never filled, but this is
    /// never less than for the scenario's own ceiling.
    ///
    /// It decides only how much memory the host must have; it affects nothing in the run.
    public var neededMemory: ByteCount { neededMemory(appDemands()) }

    private func neededMemory(_ demands: [AppDemand]) -> ByteCount {
        let ceiling = effectiveCeiling
        // What is alive at the start may hold more than it would reach by itself.
        guard start.isEmpty else { return ceiling }
        var room = 0.0
        for demand in demands {
            guard let one = demand.room else { return ceiling }
            room += one
        }
        // Holes between objects, and pages not yet given back, add half as much again, plus a part of a slab for each
        // size class.
        let lost = ByteCount.kibibytes(256) * apps.count
        let most = ByteCount(Int(min(room * 1.5, HostDemand.beyond))) * device.scale + lost
        let least = effectiveCeiling > device.ceiling ? device.ceiling : .zero
        return min(ceiling, max(least, device.reserved + device.mostOfSystem + most))
    }

    /// The host memory for the objects of the apps' traces: their tables, and the names in a trace that is read
    /// again.
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

    /// The sizes that are drawn but not yet made: one batch for the program, and for each waiting app the sizes that
    /// were refused.
    private func batches(_ demands: [AppDemand]) -> ByteCount {
        let slice = device.fillSlice
        let counts = demands.map { $0.objects(of: slice) }
        let copies = device.scale == .one ? ByteCount(24) : ByteCount(72)
        return copies * (counts.max() ?? 0) + ByteCount(8) * counts.reduce(0, +)
    }

    private func appDemands() -> [AppDemand] {
        var known: [(sizes: SizeDistribution, means: MeanSizes)] = []
        let costs = BookCosts()
        // The cap keeps the sums finite; beyond it the estimate exceeds any host anyway.
        let span = min(duration, .hours(2_400))
        let slice = device.fillSlice
        return apps.enumerated().map { index, app in
            let means: MeanSizes
            if let same = known.first(where: { $0.sizes == app.memory.objects }) {
                means = same.means
            } else {
                means = MeanSizes(of: app.memory.objects, costs)
                known.append((app.memory.objects, means))
            }
            // Without scenes, only a window on a second display.
            let mayHaveMore = app.scenes.multiple || !app.scenes.support
            let further = mayHaveMore ? user.reduce(0) { $0 + $1.scenesOpened(by: AppID(index)) } : 0
            return AppDemand(app, over: span, scenes: 1 + further, means, slice)
        }
    }
}

extension Device {
    /// The most that the system holds beyond `reserved`: its own files, and what is wired over time.
    fileprivate var mostOfSystem: ByteCount {
        (fileCache?.system ?? .zero) + (wired.map(\.size).max() ?? .zero)
    }
}

extension HostDemand {
    /// More bytes than any host has, small enough that sums of it do not overflow.
    fileprivate static let beyond = 1e15

    /// The most of a quantity in a device full of objects, if no app holds more than it can.
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
        // Unused runs of pages add half as many again. No run is shorter than a page.
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

/// The most that one app can hold.
private struct AppDemand {
    /// The bytes that it requests; nil if the scenario sets no bound.
    private let held: ByteCount?
    /// The number of objects that are smaller than drawn, because the last object of each requested portion is cut.
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

    /// The bytes of pages that its objects take; nil without a bound. The last object of each portion is cut, and so
    /// is small.
    var room: Double? { drawn.map { $0 * means.room + cuts * min(means.room, 16) } }

    /// Objects per byte of that room.
    var objectDensity: Double {
        guard let drawn, let room, room > 0 else { return 1 / means.room }
        return (drawn + cuts) / room
    }

    /// Runs of pages per byte; a trace's objects may have any size.
    var extentDensity: Double { hasTrace ? 1 / 4_096 : means.extents / means.room }

    /// The number of objects in this many bytes, or in all bytes that the app requests if those are fewer.
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
    /// The number of portions in which the app requests memory beyond its base and scenes. Each change of its memory
    /// is one.
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
