import Quantities
import Scenario
import Workload

/// The memory of a random app: small enough for a launch, large enough that many apps do not fit.
struct DrawnMemory {
    let record: Record
    /// The base, or the footprint that is stated in its place, in the app's own units, before the device's scale.
    let base: ByteCount
    /// The upper limit of every part.
    let most: ByteCount
    let playsTrace: Bool
    /// Whether its objects have only a few bytes, so none of its parts may be large.
    let isTiny: Bool

    init(_ draw: inout Draw, _ profile: AppProfile, of name: String, _ frame: WorldFrame) {
        var memory = Record(path: "apps[].memory")
        isTiny = draw.chance(4)
        most = isTiny ? .mebibytes(2) : ByteCount(min(frame.room.bytes / 4, 512 << 20))
        // The archetype's base may be too large for the device, or for the app's own limit.
        let limit = profile.limits.active.map {
            ByteCount($0.bytes / 3 * 1_000 / Int(frame.scale.partsPerMillion / 1_000))
        }
        let highest = min(most, limit ?? most)
        let base: ByteCount
        if isTiny || profile.memory.base > highest || draw.chance(60) {
            base = draw.bytes(.kibibytes(256), highest)
            memory.put("base", .plain("\(base)"))
        } else {
            base = profile.memory.base
        }
        let parts = Parts(
            base: base, most: most, isTiny: isTiny, isReal: frame.options.backend == .jemalloc,
            purgeable: Draw(frame.seed, "purgeable/\(name)"))
        parts.putUsual(&draw, &memory)
        if draw.chance(15) { memory.put("bursts", DrawnMemory.bursts(&draw, most: most, until: frame.duration)) }
        if isTiny || draw.chance(45) { memory.put("objects", DrawnMemory.objects(&draw, isTiny: isTiny)) }
        parts.putSeldom(&draw, &memory)
        if let contents = DrawnMemory.compressibility(frame.seed, of: name) {
            memory.put("compressibility", contents)
        }
        memory.put(["hot": 30], from: Draw(frame.seed, "hot/\(name)"))
        if let files = DrawnMemory.files(frame.seed, of: name, most: most) { memory.put("files", files) }
        playsTrace = draw.chance(3)
        if playsTrace {
            memory.put("trace", DrawnMemory.trace(&draw))
        } else if draw.chance(3) {
            memory.put("trace", .plain("none"))
        }
        var own = Draw(frame.seed, "footprint/\(name)")
        let least = DrawnMemory.leastFootprint(memory, profile)
        if !isTiny, least < highest, own.chance(15) {
            let footprint = own.bytes(least, highest)
            record = memory.putting("footprint", "\(footprint)", without: "base")
            self.base = footprint
        } else {
            record = own.chance(4) ? memory.putting("footprint", "none") : memory
            self.base = base
        }
    }

    /// Twice the first scene.
    private static func leastFootprint(_ memory: Record, _ profile: AppProfile) -> ByteCount {
        let written = memory.tree["scene"]?.text.flatMap { try? ByteCount(parsing: $0) }
        return max(.mebibytes(1), (written ?? profile.memory.scene) * 2)
    }

    /// The parts with a size or a rate. An app of tiny objects sets all of them, because its archetype's may be large.
    private struct Parts {
        let base, most, small, fast: ByteCount
        let isTiny: Bool
        /// The stream of the cache's purgeable share.
        let purgeable: Draw

        init(base: ByteCount, most: ByteCount, isTiny: Bool, isReal: Bool, purgeable: Draw) {
            self.purgeable = purgeable
            (self.base, self.most, self.isTiny) = (base, most, isTiny)
            small = ByteCount(most.bytes / 3)
            // Writing real memory takes time.
            fast = ByteCount(min(most.bytes / 8, isReal ? 3 << 20 : 12 << 20))
        }

        func putUsual(_ draw: inout Draw, _ memory: inout Record) {
            if isTiny || draw.chance(60) {
                memory.put("scene", draw.chance(12) ? .plain("0B") : draw.size(.zero, small))
            }
            if isTiny || draw.chance(45) {
                let (size, rate) = (draw.size(.zero, most), draw.rate(.zero, fast))
                let facts = [("size", size), ("rate", rate), ("turnover", draw.rate(.zero, fast))]
                var cache = some(&draw, facts)
                cache.path = "apps[].memory.cache"
                cache.put(["purgeable": 60], from: purgeable)
                memory.put("cache", cache)
            }
            if isTiny || draw.chance(30) {
                let rate = draw.rate(.zero, fast)
                memory.put("growth", some(&draw, [("rate", rate), ("up_to", draw.size(base, most))]))
            }
            if draw.chance(15) { memory.put("leak", draw.rate(.kibibytes(1), ByteCount(fast.bytes / 8))) }
            if isTiny || draw.chance(25) {
                let lifetime = draw.time(.milliseconds(1), .seconds(8))
                memory.put("churn", some(&draw, [("rate", draw.rate(.zero, fast)), ("lifetime", lifetime)]))
            }
            if isTiny || draw.chance(25) { memory.put("touch", draw.rate(.zero, fast)) }
        }

        func putSeldom(_ draw: inout Draw, _ memory: inout Record) {
            if isTiny || draw.chance(12) {
                let rate = draw.rate(.zero, fast)
                memory.put("scene_growth", some(&draw, [("rate", rate), ("up_to", draw.size(.zero, small))]))
            }
            if isTiny || draw.chance(12) {
                let period = draw.time(.milliseconds(100), .seconds(30))
                memory.put("saw_tooth", some(&draw, [("size", draw.size(.zero, small)), ("period", period)]))
            }
            if isTiny || draw.chance(20) { memory.put("read", draw.rate(.zero, fast)) }
        }

        private func some(_ draw: inout Draw, _ entries: [(String, Tree)]) -> Record {
            let kept = draw.some(of: entries, 75)
            return Record(entries: isTiny || kept.isEmpty ? entries : kept)
        }
    }

    /// Draws from a stream of its own. Without a file cache they do not matter.
    private static func files(_ seed: UInt64, of name: String, most: ByteCount) -> Tree? {
        var draw = Draw(seed, "files/\(name)")
        // Often, because few ladders have a rule that drops files.
        guard draw.chance(60) else { return nil }
        let size = draw.size(.zero, most)
        guard draw.chance(80) else { return size }
        var files = Record(path: "apps[].memory.files")
        files.put("size", size)
        files.put(["launch": 50, "resume": 50], &draw)
        if draw.chance(60) { files.put("rate", draw.rate(.zero, ByteCount(most.bytes / 8))) }
        return files.tree
    }

    /// Draws from a stream of its own.
    private static func compressibility(_ seed: UInt64, of name: String) -> Tree? {
        var draw = Draw(seed, "compressibility/\(name)")
        guard draw.chance(30) else { return nil }
        var contents = Record()
        let repeated = draw.number(0, 100)
        if draw.chance(60) { contents.put("ratio", .plain("\(draw.number(100, 600))%")) }
        contents.put("repeated", .plain("\(repeated)%"))
        contents.put("incompressible", .plain("\(draw.number(0, 100 - repeated))%"))
        return contents.tree
    }

    private static func bursts(_ draw: inout Draw, most: ByteCount, until end: TimeSpan) -> Tree {
        let latest = max(.seconds(1), TimeSpan(microseconds: end.microseconds / 3))
        return .list(
            (0..<draw.number(0, 3)).map { _ in
                var burst = Record()
                burst.put("after", draw.time(.zero, latest))
                burst.put("size", draw.size(.kibibytes(64), most))
                burst.put("over", draw.time(.zero, .seconds(10)))
                if draw.chance(60) {
                    burst.put("hold", draw.chance(20) ? .plain("none") : draw.time(.milliseconds(100), .seconds(30)))
                }
                return burst.tree
            })
    }

    private static func objects(_ draw: inout Draw, isTiny: Bool) -> Tree {
        let least = ByteCount(isTiny ? 1 : 512)
        let largest: ByteCount = isTiny ? .kibibytes(4) : draw.pick([.kibibytes(64), .mebibytes(1), .mebibytes(6)])
        let (low, high) = (draw.bytes(least, .kibibytes(4)), draw.bytes(.kibibytes(4), largest))
        let forms: [(String, Tree)] = [
            ("constant", .plain("\(draw.bytes(least, isTiny ? ByteCount(64) : largest))")),
            ("uniform", .record([("lowest", .plain("\(low)")), ("highest", .plain("\(high)"))])),
            ("log_normal", logNormal(&draw, median: low, highest: high)),
            (
                "histogram",
                .list(
                    (0..<draw.number(1, 5)).map { index in
                        .record([
                            ("size", .plain("\(draw.bytes(least, largest))")),
                            ("weight", .plain("\(index == 0 ? 1 : draw.magnitude(0, 1_000))")),
                        ])
                    })
            ),
        ]
        return .record([draw.pick(forms)])
    }

    /// A log-normal distribution. The defaults of its keys are 2 KiB, 1.4 and 1 MiB.
    private static func logNormal(_ draw: inout Draw, median: ByteCount, highest: ByteCount) -> Tree {
        let given: [(String, Tree)] = [("median", .plain("\(median)")), ("highest", .plain("\(highest)"))]
        let isGiven = draw.chance(80)
        guard draw.chance(70) else { return .record(isGiven ? given : [("median", .plain("1KiB"))]) }
        return .record((isGiven ? given : []) + [("sigma", .plain("\(draw.number(0, 2)).\(draw.number(0, 99))"))])
    }

    private static func trace(_ draw: inout Draw) -> Tree {
        var trace = Record()
        trace.put("file", .plain(World.traceName))
        let isPaced = draw.chance(60)
        if isPaced {
            trace.put("pace", .plain("\(draw.magnitude(10, 3_000))/s"))
            if draw.chance(30) { trace.put("over", .plain("none")) }
        } else {
            trace.put("over", draw.time(.seconds(2), .minutes(2)))
            if draw.chance(30) { trace.put("pace", .plain("none")) }
        }
        if draw.chance(50) { trace.put("copies", .plain("\(draw.number(0, 3)).\(draw.number(1, 99))")) }
        if draw.chance(80) { trace.put("ends", .plain(draw.pick(TraceEnding.allCases).rawValue)) }
        if draw.chance(30) {
            trace.put("last_line", .plain(draw.chance(30) ? "none" : "\(draw.number(1, TraceText.fewestLines))"))
        }
        return trace.tree
    }
}

/// A random allocation trace, which frees only allocated objects.
enum TraceText {
    /// The length of the shortest trace.
    static let fewestLines = 60

    static func draw(_ seed: UInt64) -> String {
        var draw = Draw(seed, "trace")
        var live: [Int] = []
        var next = 1
        var lines: [String] = []
        for _ in 0..<draw.number(fewestLines, 600) {
            let thread = draw.number(1, 4)
            let size = draw.magnitude(0, 1 << 17)
            let kind = draw.number(0, 99)
            if kind < 40 || live.isEmpty {
                lines.append("\(thread): malloc 0x\(String(next, radix: 16)) \(size)")
                live.append(next)
                next += 1
            } else if kind < 48 {
                lines.append("\(thread): calloc 0x\(String(next, radix: 16)) \(draw.number(1, 8)) \(size / 8)")
                live.append(next)
                next += 1
            } else if kind < 54 {
                let alignment = 1 << draw.number(4, 20)
                lines.append("\(thread): memalign 0x\(String(next, radix: 16)) \(alignment) \(size)")
                live.append(next)
                next += 1
            } else if kind < 66 {
                let place = draw.number(0, live.count - 1)
                let old = String(live[place], radix: 16)
                lines.append("\(thread): realloc 0x\(String(next, radix: 16)) 0x\(old) \(size)")
                live[place] = next
                next += 1
            } else if kind < 98 {
                let id = live.remove(at: draw.number(0, live.count - 1))
                lines.append("\(thread): free 0x\(String(id, radix: 16))")
            } else {
                lines.append(draw.chance(50) ? "\(thread): thread_done 0x0" : "\(thread): free 0x0")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
