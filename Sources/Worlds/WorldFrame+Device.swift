import Lifecycle
import Memory
import Metrics
import Plan
import Pressure
import Quantities
import Scenario

// The phone and its measurements.
extension WorldFrame {
    func device() -> Tree {
        var draw = Draw(seed, "device")
        var device = Record()
        device.put("ceiling", .plain("\(ceiling)"))
        // A preset has a reserve of its own.
        if reserved > .zero || preset != nil { device.put("reserved", .plain("\(reserved)")) }
        if scale != .one { device.put("scale", .plain("\(scale)")) }
        let cores = draw.pick([(4, 1), (3, 2), (2, 3), (2, 6), (1, 16)])
        if draw.chance(60) { device.put("cores", draw.chance(50) ? .plain("\(cores)") : clusters(cores, &draw).tree) }
        if draw.chance(30) { device.put("fill_rate", draw.rate(.mebibytes(16), .gibibytes(4))) }
        if draw.chance(30) { device.put("reclaim_rate", draw.rate(.mebibytes(16), .gibibytes(16))) }
        if draw.chance(30) { device.put("termination_time", draw.time(.zero, .seconds(2))) }
        if draw.chance(30) { device.put("dirty_decay", draw.time(.zero, .minutes(2))) }
        putIdentity(in: &device)
        if let compressor = compressor() { device.put("compressor", compressor) }
        if let files = fileCache() { device.put("file_cache", files) }
        return device.tree
    }

    /// What a device has of its own: a preset, a name, limits and thresholds.
    private func putIdentity(in device: inout Record) {
        var draw = Draw(seed, "device identity")
        let likesNone = draw.chance(3)
        if preset != nil || likesNone { device.put("like", .plain(preset?.name ?? "none")) }
        if draw.chance(6) { device.put("name", draw.chance(20) ? .plain("none") : .string("Phone \(seed % 9)")) }
        if draw.chance(6) { device.put("os", draw.chance(20) ? .plain("none") : .string("System \(seed % 20).4")) }
        if draw.chance(12) { device.put("page", .plain(draw.pick(DevicePage.allCases).rawValue)) }
        // No app's base is larger than a quarter of the device.
        if preset != nil || draw.chance(15) {
            let lowest = ByteCount(ceiling.bytes / 3)
            device.put("app_limit", draw.chance(20) ? .plain("none") : draw.size(lowest, ceiling))
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
        guard let share = compressor["input"]?.text.flatMap({ try? Ratio(parsing: $0) }) else { return ceiling }
        return ceiling * share
    }

    private func compressor() -> Tree? {
        var draw = Draw(seed, "compressor")
        guard draw.chance(40) else { return nil }
        guard draw.chance(90) else { return .plain("off") }
        var compressor = Record()
        putCodec(in: &compressor)
        if draw.chance(40) { compressor.put("compress_rate", draw.rate(.mebibytes(8), .gibibytes(8))) }
        if draw.chance(40) { compressor.put("decompress_rate", draw.rate(.mebibytes(8), .gibibytes(8))) }
        if draw.chance(60) { compressor.put("keep_free", draw.share(0, 60)) }
        if draw.chance(40) { compressor.put("resume_share", draw.share(0, 100)) }
        if draw.chance(25) { compressor.put("pool", draw.share(0, 100)) }
        if draw.chance(25) { compressor.put("input", draw.share(0, 400)) }
        if draw.chance(30) { compressor.put("threads", .plain("\(draw.number(1, 8))")) }
        return compressor.tree
    }

    private func fileCache() -> Tree? {
        var draw = Draw(seed, "file cache")
        guard draw.chance(55) else { return nil }
        guard draw.chance(92) else { return .plain("off") }
        var cache = Record()
        if draw.chance(60) { cache.put("read_rate", draw.rate(.mebibytes(8), .gibibytes(4))) }
        if draw.chance(60) { cache.put("keep_free", draw.share(0, 60)) }
        return cache.tree
    }

    /// How contents are compressed, and what a page costs besides. LZ4 needs real memory at full scale.
    private func putCodec(in compressor: inout Record) {
        var draw = Draw(seed, "codec")
        let isWhole = scale == .one && topScale == nil && options.scale == nil
        let isReal = draw.chance(60) && isWhole && options.backend == .jemalloc
        if isReal || draw.chance(10) { compressor.put("codec", .plain(isReal ? "lz4" : "model")) }
        if draw.chance(isReal ? 70 : 10) {
            compressor.put("contents", .plain(draw.pick(PageRecipe.allCases).rawValue))
        }
        for key in ["page_out_rate", "page_in_rate"] where draw.chance(25) {
            compressor.put(key, draw.chance(20) ? .plain("none") : draw.rate(.mebibytes(8), .gibibytes(8)))
        }
    }

    private func clusters(_ performance: Int, _ draw: inout Draw) -> Record {
        var cores = Record()
        cores.put("performance", .plain("\(performance)"))
        if draw.chance(70) { cores.put("efficiency", .plain("\(draw.number(0, 6))")) }
        if draw.chance(40) { cores.put("efficiency_speed", draw.share(10, 100)) }
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
        var monitor = Record()
        let named = draw.pick(MonitorSettings.presets)
        if draw.chance(80) { monitor.put("preset", .plain(named.preset)) }
        let base = monitor.isEmpty ? preset?.monitor.value ?? .ios : named
        // About two thousand samples per run are enough.
        let shortest = max(.milliseconds(20), TimeSpan(microseconds: duration.microseconds / 2_000))
        if base.interval < shortest || draw.chance(40) {
            monitor.put("interval", draw.time(shortest, max(shortest, .seconds(2))))
        }
        for key in ["hold", "warning_spacing", "warning_rest", "warning_repeat", "cool_down"] where draw.chance(25) {
            monitor.put(key, draw.time(.zero, .seconds(40)))
        }
        if draw.chance(25) { monitor.put("warning_minimum_footprint", draw.size(.zero, .mebibytes(40))) }
        let debounce = draw.chance(20) ? draw.bytes(.kibibytes(4), .mebibytes(16)) : nil
        if let debounce { monitor.put("debounce", .plain("\(debounce)")) }
        let measure = draw.pick(PressureMeasure.allCases)
        let changesMeasure = draw.chance(20)
        if changesMeasure { monitor.put("measure", .plain(measure.rawValue)) }
        // Thresholds for one measure do not suit another.
        if changesMeasure || draw.chance(40) {
            thresholds(
                of: changesMeasure ? measure : base.measure, mayCoincide: debounce != nil || base.debounce > .zero,
                &draw, &monitor)
        }
        if draw.chance(25) { monitor.put("end_suspended_first", draw.flag(80)) }
        if draw.chance(25) { monitor.put("rise_needs_fewer_processes", draw.flag()) }
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
        var rules = olderRules()
        if let lastWindow { rules.put("last_window", lastWindow) }
        if let prewarmedBase { rules.put("prewarmed_base", prewarmedBase) }
        for (key, value) in requestRules() { rules.put(key, value) }
        return rules
    }

    private func olderRules() -> Record {
        var draw = Draw(seed, "lifecycle")
        var rules = Record()
        guard draw.chance(40) else { return rules }
        if draw.chance(20) { rules.put("scenes", draw.flag(30)) }
        for key in [
            "foreground_notification_at_launch", "scene_before_application", "swipe_enters_background",
            "snapshot_of_closed_scene", "processing_after_quit", "paused_audio_runs",
        ] where draw.chance(35) {
            rules.put(key, draw.flag())
        }
        func pick<Choice: CaseIterable & RawRepresentable<String>>(_ key: String, _ type: Choice.Type) {
            if draw.chance(35) { rules.put(key, .plain(draw.pick(Array(type.allCases)).rawValue)) }
        }
        pick("restoration_saved", RestorationMoment.self)
        pick("state_at_launch", StateAtLaunch.self)
        pick("idle_scenes", IdleScenes.self)
        if draw.chance(35) { rules.put("protected_data_delay", draw.time(.zero, .seconds(30))) }
        return rules
    }

    func limits(_ apps: [DrawnApp]) -> Record {
        var draw = Draw(seed, "limits")
        var limits = Record()
        guard draw.chance(75) else { return limits }
        if draw.chance(30) {
            limits.put("background_processes", .plain(draw.chance(20) ? "none" : "\(draw.number(0, 8))"))
        }
        if draw.chance(30) {
            limits.put("background_memory", draw.chance(20) ? .plain("none") : draw.size(.mebibytes(1), ceiling))
        }
        if draw.chance(25) { limits.put("background_time", draw.time(.milliseconds(100), .minutes(2))) }
        if draw.chance(30) {
            limits.put("terminations_per_minute", .plain(draw.chance(20) ? "none" : "\(draw.number(0, 6))"))
        }
        if draw.chance(30) { limits.put("minimum_stay", draw.time(.zero, .minutes(1))) }
        if draw.chance(30) { limits.put("protected", .list(draw.some(of: apps, 25).map { .plain($0.name) })) }
        if draw.chance(25) { limits.put("protect_audible", draw.flag()) }
        var further = Draw(seed, "limits of the screen")
        if further.chance(20) { limits.put("protect_foreground", further.flag(20)) }
        return limits
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
