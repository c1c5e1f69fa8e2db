import Lifecycle
import Metrics
import Plan
import Pressure
import Quantities
import Reclaim
import Scenario

// The phone and its measurements.
extension WorldFrame {
    func device() -> Tree {
        var draw = Draw(seed, "device")
        var device = Record(path: "device")
        device.put("ceiling", .plain("\(ceiling)"))
        // A preset has a reserve of its own.
        if reserved > .zero || preset != nil { device.put("reserved", .plain("\(reserved)")) }
        if scale != .one { device.put("scale", .plain("\(scale)")) }
        let cores = draw.pick([(4, 1), (3, 2), (2, 3), (2, 6), (1, 16)])
        if draw.chance(60) { device.put("cores", draw.chance(50) ? .plain("\(cores)") : clusters(cores, &draw).tree) }
        device.put(["fill_rate": 30, "reclaim_rate": 30, "termination_time": 30, "dirty_decay": 30], &draw)
        putIdentity(in: &device)
        let compressor = self.compressor()
        if let compressor { device.put("compressor", compressor) }
        if let files = fileCache() { device.put("file_cache", files) }
        if let wired = wired() { device.put("wired", wired) }
        if let compressor, compressor.text == nil {
            putKernel(over: compressor, in: &device)
            putSwap(over: compressor, in: &device)
        }
        return device.tree
    }

    /// What the system wires over time, up to a quarter of the RAM.
    private func wired() -> Tree? {
        var draw = Draw(seed, "wired")
        guard draw.chance(15) else { return nil }
        var at = draw.chance(30) ? TimeSpan.zero : draw.span(.zero, TimeSpan(microseconds: duration.microseconds / 2))
        let most = ByteCount(ceiling.bytes / 4)
        let points = (0..<draw.number(1, 4)).map { _ in
            var point = Record()
            point.put("at", .plain("\(at)"))
            point.put("size", draw.chance(25) ? .plain("0B") : draw.size(.kibibytes(64), most))
            at += draw.span(.milliseconds(1), TimeSpan(microseconds: duration.microseconds / 4))
            return point.tree
        }
        return .list(points)
    }

    /// XNU's memory management, and with it the freezer, whose contents are drawn.
    private func putKernel(over compressor: Tree, in device: inout Record) {
        var draw = Draw(seed, "kernel")
        guard draw.chance(40) else {
            if draw.chance(5) { device.put("kernel", .plain("none")) }
            return
        }
        device.put("kernel", .plain(draw.pick(JetsamKernel.allCases).rawValue))
        let most = ByteCount(reserved.bytes / 2)
        if reserved >= .mebibytes(1), draw.chance(30) { device.put("system_pageable", draw.size(.kibibytes(4), most)) }
        if reserved >= .mebibytes(1), draw.chance(30) {
            device.put("system_compressed", draw.size(.kibibytes(4), most))
        }
        guard draw.chance(65) else { return }
        guard draw.chance(85), compressor["codec"]?.text != "lz4" else { return device.put("freezer", .plain("off")) }
        var freezer = Record(path: "device.freezer")
        // Few worlds have more than four suspended apps at once; one that soon has no slot and no budget demotes.
        if draw.chance(50) {
            freezer.put("slots", .plain("\(draw.number(1, 2))"))
            freezer.put("minimum", draw.size(.kibibytes(4), .kibibytes(64)))
            freezer.put("suspended_above", .plain("0"))
            freezer.put("refreeze_after", .plain("1"))
            freezer.put("below", .plain("100%"))
            freezer.put("budget", draw.size(.kibibytes(64), .mebibytes(4)))
            freezer.put(["demotions": 20, "write_rate": 30, "read_rate": 30], &draw)
        } else {
            freezer.put(["slots": 40, "minimum": 60, "suspended_above": 60, "refreeze_after": 40], &draw)
            freezer.put(["demotions": 30, "below": 50, "budget": 80, "write_rate": 30, "read_rate": 30], &draw)
            freezer.put(["store": 50], &draw)
        }
        device.put("freezer", freezer.tree)
    }

    /// Linux's swap and its way to make room, where no XNU manages the memory.
    private func putSwap(over compressor: Tree, in device: inout Record) {
        let kernel = device.tree["kernel"]?.text ?? (preset?.kernel == nil ? "none" : "")
        guard kernel == "none" else { return }
        let swap = swap(over: compressor)
        var draw = Draw(seed, "reclaim")
        device.put(["reclaim": 50], &draw)
        guard var swap else { return }
        var details = Draw(seed, "swap details")
        if details.chance(20) { swap.put("search_time", .plain("\(details.number(0, 1_000))us")) }
        let isZram = swap.tree["zram"]?.text == "true"
        if isZram || swap.tree["disk"] != nil, details.chance(30) {
            swap.put("compact_after", .plain(details.chance(20) ? "never" : "\(details.number(0, 20))s"))
        }
        if isZram, device.tree["reclaim"]?.text != "background", details.chance(30) {
            swap.put("extra_free", details.size(.zero, ByteCount(ceiling.bytes / 64)))
        }
        device.put("swap", swap.tree)
    }

    private func swap(over compressor: Tree) -> Record? {
        var draw = Draw(seed, "swap")
        guard draw.chance(70) else { return nil }
        var swap = Record(path: "device.swap")
        swap.put(["zram": 50], &draw)
        if draw.chance(60), compressor["codec"]?.text != "lz4" {
            swap.put("disk", draw.size(.kibibytes(64), max(.mebibytes(1), ByteCount(ceiling.bytes / 4))))
            swap.put(["write_rate": 40, "read_rate": 40, "disk_takes": 50], &draw)
        }
        return swap
    }

    /// What a device has of its own: a preset, a name, limits and thresholds.
    private func putIdentity(in device: inout Record) {
        var draw = Draw(seed, "device identity")
        let likesNone = draw.chance(3)
        if preset != nil || likesNone { device.put("like", .plain(preset?.name ?? "none")) }
        if draw.chance(6) { device.put("name", draw.chance(20) ? .plain("none") : .string("Phone \(seed % 9)")) }
        if draw.chance(6) { device.put("os", draw.chance(20) ? .plain("none") : .string("System \(seed % 20).4")) }
        device.put(["page": 12], &draw)
        // No app's base is larger than a quarter of the device.
        if preset != nil || draw.chance(15) {
            let lowest = ByteCount(ceiling.bytes / 3)
            device.put("app_limit", draw.chance(20) ? .plain("none") : draw.size(lowest, ceiling))
        }
        var entitlement = Draw(seed, "entitlement")
        if entitlement.chance(15) {
            let limit = entitlement.size(ByteCount(ceiling.bytes / 3), ceiling)
            device.put("entitled_limit", entitlement.chance(20) ? .plain("none") : limit)
        }
        guard draw.chance(12) else { return }
        var marks = Record()
        for (key, most) in [("critical", 8), ("idle", 12), ("soft", 20), ("reaper", 30)] where draw.chance(60) {
            let share = Ratio.percent(Int64(draw.number(1, most)))
            let mark = draw.chance(30) ? "none" : draw.chance(50) ? "\(ceiling * share)" : "\(share)"
            marks.put(key, .plain(mark))
        }
        device.put("marks", marks)
    }

    /// The most that is compressed when the run begins; zero without a compressor.
    var compressorInput: ByteCount {
        guard let compressor = compressor(), compressor.text == nil else { return .zero }
        func share(_ key: String) -> Ratio {
            compressor[key]?.text.flatMap { try? Ratio(parsing: $0) } ?? .one
        }
        // Contents that do not compress take as much in the pool, and its segments a little more: the last of them are
        // partly empty.
        let pool = ceiling * share("pool") * .percent(90) - ByteCount.kibibytes(780) * max(scale, .one)
        // Without zram, what is compressed takes slots of the disk.
        let swap = swap(over: compressor)?.tree
        let disk = swap?["zram"]?.text == "false" ? swap?["disk"]?.text.flatMap { try? ByteCount(parsing: $0) } : nil
        return max(.zero, min(ceiling * share("input"), pool, disk ?? pool))
    }

    private func compressor() -> Tree? {
        var draw = Draw(seed, "compressor")
        guard draw.chance(40) else { return nil }
        guard draw.chance(90) else { return .plain("off") }
        var compressor = Record(path: "device.compressor")
        putCodec(in: &compressor)
        compressor.put(["compress_rate": 40, "decompress_rate": 40, "keep_free": 60], &draw)
        compressor.put(["resume_share": 40, "pool": 25, "input": 25, "threads": 30], &draw)
        return compressor.tree
    }

    private func fileCache() -> Tree? {
        var draw = Draw(seed, "file cache")
        guard draw.chance(55) else { return nil }
        guard draw.chance(92) else { return .plain("off") }
        var cache = Record(path: "device.file_cache")
        cache.put(["read_rate": 60, "keep_free": 60], &draw)
        var ofSystem = Draw(seed, "system files")
        if ofSystem.chance(15) {
            cache.put("system", ofSystem.size(.mebibytes(1), ByteCount(ceiling.bytes / 2)))
            cache.put(["system_read_rate": 70], &ofSystem)
        }
        return cache.tree
    }

    /// How contents are compressed, and what a page costs besides. LZ4 needs real memory at full scale.
    private func putCodec(in compressor: inout Record) {
        var draw = Draw(seed, "codec")
        let isWhole = scale == .one && topScale == nil && options.scale == nil
        let isReal = draw.chance(60) && isWhole && options.backend == .jemalloc
        if isReal || draw.chance(10) { compressor.put("codec", .plain(isReal ? "lz4" : "model")) }
        compressor.put(["contents": isReal ? 70 : 10, "page_out_rate": 25, "page_in_rate": 25], &draw)
    }

    private func clusters(_ performance: Int, _ draw: inout Draw) -> Record {
        var cores = Record(path: "device.cores")
        cores.put("performance", .plain("\(performance)"))
        cores.put(["efficiency": 70, "efficiency_speed": 40], &draw)
        if draw.chance(30) {
            let further = (0..<draw.number(1, 2)).map { _ in
                var cluster = Record()
                cluster.put("count", .plain("\(draw.number(1, 3))"))
                cluster.put("speed", draw.share(10, 100))
                return cluster.tree
            }
            cores.put("further", .list(further))
        }
        if draw.chance(40) { cores.put("priorities", .plain(draw.chance(30) ? "on" : "off")) }
        return cores
    }

    func monitor() -> Tree {
        var draw = Draw(seed, "monitor")
        var monitor = Record(path: "monitor")
        let named = draw.pick(MonitorSettings.presets)
        // With a preset of a device that has a kernel, the default depends on its compressor.
        let isNamed = draw.chance(80)
        if isNamed || preset?.kernel != nil { monitor.put("preset", .plain(named.preset)) }
        let base = monitor.isEmpty ? preset?.monitor.value ?? .ios : named
        // About two thousand samples per run are enough.
        let shortest = max(.milliseconds(20), TimeSpan(microseconds: duration.microseconds / 2_000))
        if base.interval < shortest || draw.chance(40) {
            monitor.put("interval", draw.time(shortest, max(shortest, .seconds(2))))
        }
        monitor.put(["hold": 25, "warning_spacing": 25, "warning_rest": 25, "warning_repeat": 25], &draw)
        monitor.put(["cool_down": 25, "warning_minimum_footprint": 25, "debounce": 20], &draw)
        let isDebounced = monitor.entries.last?.0 == "debounce" || base.debounce > .zero
        let measure = draw.pick(PressureMeasure.allCases)
        let changesMeasure = draw.chance(20)
        if changesMeasure { monitor.put("measure", .plain(measure.rawValue)) }
        // Thresholds for one measure do not suit another.
        if changesMeasure || draw.chance(40) {
            thresholds(
                of: changesMeasure ? measure : base.measure, mayCoincide: isDebounced, &draw, &monitor)
        }
        monitor.put(["end_suspended_first": 25, "rise_needs_fewer_processes": 25], &draw)
        return monitor.tree
    }

    /// The thresholds of both levels. Each level is entered before it is left, and the critical level is entered at
    /// more pressure than the warning level.
    private func thresholds(
        of measure: PressureMeasure, mayCoincide: Bool, _ draw: inout Draw, _ monitor: inout Record
    ) {
        let rises = measure.risesWithPressure
        let enters =
            rises
            ? (warning: draw.number(4, 50), critical: draw.number(51, 95))
            : (warning: draw.number(20, 60), critical: draw.number(2, 19))
        let inBytes = measure == .available && draw.chance(30)
        func threshold(_ percent: Int) -> Tree {
            let share = Ratio.percent(Int64(percent))
            return .plain(inBytes ? "\(ceiling * share)" : "\(share)")
        }
        for (key, enter) in [("warning", enters.warning), ("critical", enters.critical)] {
            let isSame = mayCoincide && draw.chance(30)
            let distance = isSame ? 0 : draw.number(1, 3)
            monitor.put(
                key,
                .record([
                    ("enter", threshold(enter)), ("leave", threshold(rises ? enter - distance : enter + distance)),
                ]))
        }
    }

    /// The rules of the life cycle; most worlds keep the defaults.
    func lifecycle() -> Record {
        var draw = Draw(seed, "lifecycle")
        var rules = Record(path: "lifecycle")
        let (seldom, often): (Int64, Int64) = draw.chance(40) ? (20, 35) : (0, 0)
        rules.put(["scenes": seldom, "foreground_notification_at_launch": often], &draw)
        rules.put(["scene_before_application": often, "swipe_enters_background": often], &draw)
        rules.put(["snapshot_of_closed_scene": often, "processing_after_quit": often], &draw)
        rules.put(["paused_audio_runs": often, "restoration_saved": often, "state_at_launch": often], &draw)
        rules.put(["idle_scenes": often, "protected_data_delay": often], &draw)
        rules.put(["last_window": 25], from: Draw(seed, "last window"))
        rules.put(["prewarmed_base": 25], from: Draw(seed, "prewarmed base"))
        rules.put(
            ["refresh_interval": 25, "transfer_delay": 25, "live_activity_band": 25], from: Draw(seed, "request rules"))
        return rules
    }

    func limits(_ apps: [DrawnApp]) -> Record {
        var draw = Draw(seed, "limits")
        var limits = Record(path: "limits")
        guard draw.chance(75) else { return limits }
        limits.put(["background_processes": 30], &draw)
        if draw.chance(30) {
            limits.put("background_memory", draw.chance(20) ? .plain("none") : draw.size(.mebibytes(1), ceiling))
        }
        limits.put(["background_time": 25, "terminations_per_minute": 30, "minimum_stay": 30], &draw)
        if draw.chance(30) { limits.put("protected", .list(draw.some(of: apps, 25).map { .plain($0.name) })) }
        limits.put(["protect_audible": 25], &draw)
        limits.put(["protect_foreground": 20], from: Draw(seed, "limits of the screen"))
        return limits
    }

    /// Control groups of Linux: each app and process is in one of them or in none.
    func controlGroups(_ apps: [DrawnApp], _ parts: [DrawnPart]) -> [Tree] {
        var draw = Draw(seed, "control groups")
        guard draw.chance(15) else { return [] }
        let count = draw.number(1, 3)
        var members = Array(repeating: [Tree](), count: count)
        for name in apps.map(\.name) + parts.map(\.name) where draw.chance(60) {
            members[draw.number(0, count - 1)].append(.plain(name))
        }
        return members.enumerated().filter { !$0.element.isEmpty }.map { index, names in
            var group = Record(path: "control_groups[]")
            group.put("name", .plain("group\(index)"))
            group.put("processes", .list(names))
            if draw.chance(60) {
                group.put("memory_max", draw.chance(10) ? .plain("none") : draw.size(.mebibytes(4), ceiling))
            }
            group.put(["oom_group": 60], &draw)
            if draw.chance(40) {
                group.put("managed_oom_preference", .plain(draw.pick(ManagedOOMPreference.allCases).rawValue))
            }
            return group.tree
        }
    }

    /// Expectations about the run and about apps. The first two go through all metrics in turn, so that a few hundred
    /// worlds name each metric.
    func expectations(_ apps: [DrawnApp]) -> [Tree] {
        var draw = Draw(seed, "expectations")
        let metrics = SummaryMetrics.all.filter { $0.type != .string }.map(\.name)
        let ofApps = AppMetrics.comparable.map(\.name)
        let count = draw.chance(10) ? 0 : draw.number(2, 4)
        return (0..<count).map { index in
            let app = index == 1 || index > 1 && draw.chance(50) ? draw.pick(apps).name : nil
            if let app, draw.chance(10), index > 1 { return .string("\(app) survives") }
            let names = app == nil ? metrics : ofApps
            let metric = index < 2 ? names[Int(seed % UInt64(names.count))] : draw.pick(names)
            let subject = app.map { "\($0).\(metric)" } ?? metric
            let value: String
            if metric.hasSuffix("_bytes") {
                value = "\(draw.bytes(.zero, ceiling))"
            } else if metric.hasSuffix("_ms") || metric.hasSuffix("_s") {
                value = draw.chance(50) ? "\(draw.span(.zero, duration))" : "\(draw.number(0, 5_000)).5"
            } else if metric.hasSuffix("_ratio") {
                value = "\(Ratio.percent(Int64(draw.number(0, 100))))"
            } else {
                value = "\(draw.magnitude(0, 100))"
            }
            return .string("\(subject) \(draw.pick(Expectation.Comparison.allCases).rawValue) \(value)")
        }
    }
}
