import Plan
import Quantities
import Scenario

// Edits towards the edges of the format, where faults are: the ends of ranges, times that do not divide each other, a
// start that almost fits. The caller chooses by numbers, which are drawn (`World.atTheEdges`) or come from a fuzzer's
// bytes. A value need not fit the others; the loader says whether it does.
extension Tree {
    /// The document with one edit.
    ///
    /// - Parameter choose: A number below the bound.
    package func edited(_ choose: (Int) -> Int) -> Tree {
        switch choose(12) {
        case 0..<6: withKeyAtItsEdge(choose)
        case 6: withoutSomeValue(choose)
        case 7: withOddDuration(choose)
        case 8: withFullStart(choose)
        case 9: withTightPool(choose)
        case 10: withLargeDevice(choose)
        default: withTwin(choose)
        }
    }

    /// A key of the format with a value from the end of its range, or from beyond. Two such edits make a pair.
    private func withKeyAtItsEdge(_ choose: (Int) -> Int) -> Tree {
        let key = FormatKey.drawnAtAll[choose(FormatKey.drawnAtAll.count)]
        let places = places(of: key.record)
        // An absent record of the scenario or of its device comes with the key.
        guard !places.isEmpty else {
            let steps = key.record.split(separator: ".").map(String.init)
            guard !key.record.contains("[]"), steps.count <= 2 else { return self }
            return putting(key.value(choose, self), at: steps + [key.name])
        }
        return putting(key.value(choose, self), at: places[choose(places.count)] + [key.name])
    }

    /// The paths of the records with this path in the format.
    private func places(of record: String) -> [[String]] {
        guard !record.isEmpty else { return [[]] }
        return paths.filter { path in
            at(path)?.entries != nil && path.formatPath == record
        }
    }

    /// The document with the value at the path. A missing record on the way is made.
    func putting(_ value: Tree, at path: [String]) -> Tree {
        guard let step = path.first else { return value }
        let rest = Array(path.dropFirst())
        if let elements, let index = Int(step) {
            return .list(elements.enumerated().map { $0 == index ? $1.putting(value, at: rest) : $1 })
        }
        var entries = (entries ?? []).map { ($0.key, $0.value) }
        if let index = entries.firstIndex(where: { $0.0 == step }) {
            entries[index].1 = entries[index].1.putting(value, at: rest)
        } else {
            entries.append((step, Tree.record([]).putting(value, at: rest)))
        }
        return .record(entries)
    }

    private func withoutSomeValue(_ choose: (Int) -> Int) -> Tree {
        let paths = paths
        guard !paths.isEmpty else { return self }
        let path = paths[choose(paths.count)]
        let (parent, step) = (Array(path.dropLast()), path[path.count - 1])
        return changing(parent) { tree in
            guard let index = Int(step), tree.elements != nil else { return tree.removing(step) }
            return tree.removing(index..<(index + 1))
        }
    }

    /// An element of a list twice, such as an event or an entry of the start.
    private func withTwin(_ choose: (Int) -> Int) -> Tree {
        let lists = paths.filter { !(at($0)?.elements ?? []).isEmpty }
        guard !lists.isEmpty else { return self }
        return changing(lists[choose(lists.count)]) { list in
            let elements = list.elements ?? []
            return .list(elements + [elements[choose(elements.count)]])
        }
    }

    /// A duration that no interval divides.
    private func withOddDuration(_ choose: (Int) -> Int) -> Tree {
        guard let now = self["duration"]?.text.flatMap({ try? TimeSpan(parsing: $0) }) else { return self }
        let less = [1, 333, 7_919, 49_999, 999_983][choose(5)]
        return ending(after: TimeSpan(microseconds: max(1, now.microseconds - Int64(less))))
    }

    /// The start's footprints grown until they fill the device but for some pages, or more than fill it.
    private func withFullStart(_ choose: (Int) -> Int) -> Tree {
        guard let room = roomAtFullSize, let entries = self["start"]?.elements, !entries.isEmpty else { return self }
        let held = entries.reduce(0) { $0 + ($1.size("footprint")?.bytes ?? 0) }
        let pages = [-64, -8, -2, -1, 0, 1, 8, 64, 512, 4_096][choose(10)]
        let share = [100, 90, 75, 50][choose(4)]
        let missing = room.bytes / 100 * share - held - pages * 4_096
        let chosen = choose(entries.count)
        return changing(["start", "\(chosen)"]) { entry in
            let size = max(4_096, (entry.size("footprint")?.bytes ?? 0) + missing)
            let footprint = Tree.plain("\(ByteCount(size))")
            guard choose(2) == 0 else { return entry.putting(footprint, at: ["footprint"]) }
            let compressed = Tree.plain("\(ByteCount(size / 4_096 * choose(100) / 100 * 4_096))")
            return entry.putting(footprint, at: ["footprint"]).putting(compressed, at: ["compressed"])
        }
    }

    /// A compressor whose pool is the limit of what it takes.
    private func withTightPool(_ choose: (Int) -> Int) -> Tree {
        let shares = ["0.1%", "1%", "2%", "5%", "10%", "33.3333%"]
        var document = self
        if document["device"]?["compressor"]?.entries == nil {
            document = document.putting(.record([]), at: ["device", "compressor"])
        }
        return document.putting(.plain(shares[choose(shares.count)]), at: ["device", "compressor", "pool"])
            .putting(.plain("100%"), at: ["device", "compressor", "input"])
    }

    /// A device above four gibibytes, up to the largest that there is; on the backend that only counts.
    private func withLargeDevice(_ choose: (Int) -> Int) -> Tree {
        guard self["backend"]?.text != "jemalloc" else { return self }
        let sizes = ["4GiB", "4294971392B", "5GiB", "8GiB", "16GiB", "22GiB", "32GiB"]
        return putting(.plain(sizes[choose(sizes.count)]), at: ["device", "ceiling"])
    }

    /// What the device has for processes.
    private var roomAtFullSize: ByteCount? {
        guard let ceiling = self["device"]?.size("ceiling") else { return nil }
        let room = ceiling - (self["device"]?.size("reserved") ?? .zero)
        guard let scale = self["device"]?["scale"]?.text.flatMap({ try? Ratio(parsing: $0) }), scale > .zero else {
            return room
        }
        return ByteCount(room.bytes / Int(max(1, scale.partsPerMillion)) * 1_000_000)
    }

    private func size(_ key: String) -> ByteCount? { self[key]?.text.flatMap { try? ByteCount(parsing: $0) } }

    /// The document with the first apps alone, what refers to no other, and a short run.
    package func small(apps most: Int, longest: TimeSpan) -> Tree {
        let document = without(Array(appNames.dropFirst(most))).removing("expect")
        guard let now = self["duration"]?.text.flatMap({ try? TimeSpan(parsing: $0) }), now > longest else {
            return document
        }
        return document.ending(after: longest)
    }
}

extension [String] {
    /// The path in the format of a path in a document: `apps[].memory` for `apps`, `3`, `memory`.
    fileprivate var formatPath: String {
        reduce("") { path, step in
            Int(step) != nil ? path + "[]" : FormatKey.path(step, in: path)
        }
    }
}

extension FormatKey {
    /// The ends of the key's range, what is just beyond them, and values that fit nothing else.
    fileprivate func value(_ choose: (Int) -> Int, _ document: Tree) -> Tree {
        var values: [String] = none.map { [$0] } ?? []
        let ceiling = document["device"]?["ceiling"]?.text ?? "256MiB"
        let duration = document["duration"]?.text ?? "60s"
        switch drawn {
        case .sizes(let lowest, let highest):
            values += ["\(lowest)", "\(highest)", "0B", "1B", "4095B", "4KiB", "16385B", ceiling, "4096GiB"]
        case .rates(let lowest, let highest):
            values += ["\(ByteRate(bytesPerSecond: lowest.bytes))", "\(ByteRate(bytesPerSecond: highest.bytes))"]
            values += ["1B/s", "4097B/s", "64GiB/s"]
        case .times(let lowest, let highest):
            values += ["\(lowest)", "\(highest)", "0s", "1us", "7919us", "333333us", duration, "1000d"]
        case .shares(let lowest, let highest):
            values += ["\(Ratio.percent(Int64(lowest)))", "\(Ratio.percent(Int64(highest)))", "0%", "100%", "33.3333%"]
        case .numbers(let lowest, let highest):
            values += ["\(lowest)", "\(highest)", "\(lowest &- 1)", "\(highest &+ 1)", "0", "1"]
        case .flag: values += ["true", "false"]
        case .names(let names): values += names
        case nil: values.append("0")
        }
        return .plain(values[choose(values.count)])
    }
}

extension World {
    /// The world with a few edits towards the edges of the format: those that the loader accepts, and with which a run
    /// takes no more samples and no more memory of the host than other worlds do.
    package func atTheEdges() -> World {
        var world = self
        var draw = Draw(seed, "edges")
        for _ in 0..<draw.number(2, 12) {
            var edited = world
            edited.document = world.document.edited { bound in draw.number(0, max(0, bound - 1)) }
            if edited.document != world.document, edited.isPlayable { world = edited }
        }
        world.options.isAtTheEdges = true
        return world
    }

    private var isPlayable: Bool {
        guard case .success(let plan) = reading else { return false }
        let samples = plan.duration.microseconds / max(1, plan.monitor.interval.microseconds)
        guard samples <= 4_000, plan.duration <= .minutes(30), plan.user.count < 400 else { return false }
        return options.backend == .accounting || plan.device.ceiling <= .mebibytes(512)
    }
}
