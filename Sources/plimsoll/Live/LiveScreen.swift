import Metrics
import Plan
import Pressure
import Quantities
import Reclaim
import RunFolders
import Simulation

/// One frame of the `--live` view in characters: as many lines as the screen has rows, none wider than the screen.
///
/// It does not touch a terminal: the same values give the same lines, so that tests can check them.
struct LiveScreen {
    let plan: RunPlan
    let glance: RunGlance
    let log: [RunEvent]
    let speed: String
    let size: ScreenSize
    let usesColour: Bool
    let usesBlocks: Bool
    /// Whether the policy's decisions are not carried out.
    var isDryRun = false
    /// Whether the run is paused. A step may then be shorter than a second, so the clock shows decimals.
    var isPaused = false
    /// The wall time that the rest of the run takes; nil if the speed is unlimited or the run is paused.
    var left: Duration?

    var lines: [String] {
        let rows = max(1, size.rows)
        // Title, bar, marks, figures, cores, header, heading and keys take eight rows; apps and events share the rest.
        let free = rows - 8
        let logRows = max(0, min(free / 3, 12))
        var lines = [title, bar, marks, figures, cores, header]
        lines += table(rows: max(0, free - logRows))
        lines += [paint(fit("LAST EVENTS"), .quiet)] + lastEvents(rows: logRows)
        lines = Array(lines.prefix(rows - 1))
        return lines + [paint(fit(keys), .quiet)]
    }

    // MARK: Title, bar and figures

    private var title: String {
        let left =
            "\(isDryRun ? "dry run of " : "")\(plan.name)\(RunReport.place(of: plan.device)): "
            + "policy \(plan.policy.title), seed \(plan.seed)"
        let clock = "\(time(glance.now)) of \(Progress.clock(plan.duration))  \(speed)"
        let rest = self.left.map { ", \(Progress.clock(TimeSpan(microseconds: Int64($0 / .microseconds(1))))) to go" }
        // On a narrow screen the remaining time is left out first; then the title is cut to keep the clock.
        let least = min(60, max(30, LiveScreen.columns(of: left) + 2))
        let right = rest.map { size.columns - clock.count - $0.count > least ? clock + $0 : clock } ?? clock
        let room = size.columns - right.count - 2
        guard room > 8 else { return fit(right) }
        return paint(fit(left, to: room), .strong) + "  " + right
    }

    /// The virtual time. While the run is paused, it has as many decimals as tell two samples apart.
    private func time(_ instant: Instant) -> String {
        LiveScreen.time(instant, decimals: isPaused ? LiveScreen.decimals(of: plan.monitor.interval) : 0)
    }

    /// How many decimals of a second tell two samples apart: at least one, at most three.
    static func decimals(of interval: TimeSpan) -> Int {
        let scales: [Int64] = [100_000, 10_000]
        return (scales.firstIndex { interval.microseconds % $0 == 0 } ?? scales.count) + 1
    }

    private static func time(_ instant: Instant, decimals: Int) -> String {
        let whole = Progress.clock(instant - .zero)
        guard decimals > 0 else { return whole }
        let digits = String(instant.microseconds % 1_000_000 + 1_000_000).dropFirst().prefix(decimals)
        return "\(whole).\(digits)"
    }

    private func column(of bytes: ByteCount) -> Int {
        let width = max(1, size.columns - 2)
        return min(width, Int(Int64(bytes.bytes) * Int64(width) / Int64(max(1, glance.ceiling.bytes))))
    }

    /// The signs of the bar.
    private var signs: (system: String, pool: String, apps: String, free: String) {
        usesBlocks ? ("▒", "▓", "█", "·") : ("=", "%", "#", ".")
    }

    private var bar: String {
        let width = max(1, size.columns - 2)
        let system = column(of: glance.reserved)
        let pool = max(0, column(of: glance.reserved + glance.pool) - system)
        let apps = max(0, column(of: glance.resident) - system - pool)
        let signs = signs
        let used = [(signs.system, system), (signs.pool, pool)].map { String(repeating: $0, count: $1) }.joined()
        let rest = String(repeating: signs.free, count: max(0, width - system - pool - apps))
        return "[" + used + paint(String(repeating: signs.apps, count: apps), look) + rest + "]"
    }

    private var hasCompressor: Bool { plan.device.compressor != nil }

    /// The line below the bar, with W and C at the thresholds of warning and critical.
    private var marks: String {
        var cells = Array(repeating: Character(" "), count: max(1, size.columns))
        let settings = plan.monitor
        for (mark, threshold) in [("C", settings.critical.enter), ("W", settings.warning.enter)]
        where settings.measure == .available {
            let place = 1 + column(of: max(.zero, glance.ceiling - threshold.bytes(of: glance.ceiling)))
            if place < cells.count { cells[place] = Character(mark) }
        }
        let first = cells.firstIndex { $0 != " " } ?? cells.count
        for (index, character) in legend(room: first - 2).enumerated() { cells[index + 1] = character }
        return String(cells)
    }

    /// The meaning of the bar's signs, as far as it fits.
    private func legend(room: Int) -> String {
        let (system, pool, apps, free) = signs
        let compressor = hasCompressor ? "  \(pool) compressor" : ""
        let hasMarks = plan.monitor.measure == .available
        let parts =
            ["\(system) system\(compressor)  \(apps) apps  \(free) free"]
            + (hasMarks ? ["W warning  C critical"] : []) + ["] ceiling \(glance.ceiling.readable)"]
        var legend = ""
        for part in parts {
            let longer = legend.isEmpty ? part : legend + "  " + part
            if LiveScreen.columns(of: longer) <= room { legend = longer }
        }
        return legend
    }

    private var figures: String {
        let share = Double(glance.available.bytes) / Double(max(1, glance.ceiling.bytes)) * 1000
        let percent = "\(Int(share) / 10).\(Int(share) % 10)%"
        let level = paint(glance.level.rawValue.uppercased(), look)
        let counts = "\(glance.launches) launched  \(glance.warnings) warned  \(glance.terminations) ended"
        let compressed = hasCompressor ? "\(glance.compressed.readable) compressed  " : ""
        let free = "  \(glance.resident.readable) used  \(glance.available.readable)"
        let room = size.columns - glance.level.rawValue.count
        // On a narrow screen the share is left out first, then what the bar shows, too.
        let forms = [
            "\(free) (\(percent)) free  \(compressed)\(counts)", "\(free) free  \(compressed)\(counts)",
            "  \(glance.available.readable) free  \(compressed)\(counts)",
        ]
        return level + fit(forms.first { LiveScreen.columns(of: $0) <= room } ?? forms[2], to: room)
    }

    /// What the cores did between the last two samples, on average.
    private var cores: String {
        let cores = glance.cores
        let share = "\(LiveScreen.tenths(cores.working)) of \(cores.count.counted("core", "cores")) busy"
        guard cores.waiting > .zero else { return fit("\(share)  no work waits") }
        let isUrgent = cores.waitingOnScreen > .zero
        let onScreen = isUrgent ? ", \(LiveScreen.tenths(cores.waitingOnScreen)) of them on screen" : ""
        let text = fit("\(share)  \(LiveScreen.tenths(cores.waiting)) pieces of work wait\(onScreen)")
        return isUrgent ? paint(text, .warning) : text
    }

    /// A number with one decimal, rounded up: what is not zero does not look like it.
    private static func tenths(_ number: Ratio) -> String {
        let tenths = (number.partsPerMillion + 99_999) / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// What the keys do, in the longest form that fits.
    private var keys: String {
        let pause = isPaused ? "space continue" : "space pause"
        let forms = [
            "\(pause)  s step  1 real time  2 10x  3 max  q or Ctrl-C stop",
            "\(pause)  s step  1 2 3 speed  q stop", "\(pause)  s step  q stop",
        ]
        return forms.first { $0.count <= size.columns } ?? forms[2]
    }

    // MARK: Apps

    private static let widths = (app: 18, state: 11, band: 5, size: 10, time: 8)

    private var header: String {
        let widths = LiveScreen.widths
        let text =
            pad("APP", widths.app) + pad("STATE", widths.state) + lead("BAND", widths.band)
            + lead("FOOTPRINT", widths.size) + lead("AGE", widths.time) + lead("IDLE", widths.time)
        let (held, compressed) = squares
        let legend = hasCompressor ? "  \(held) RAM \(compressed) compressed" : ""
        let whole = text + legend
        return paint(fit(LiveScreen.columns(of: whole) <= size.columns ? whole : text), .quiet)
    }

    /// The signs of an app's bar.
    private var squares: (held: String, compressed: String) { usesBlocks ? ("▪", "▫") : ("#", "-") }

    private func table(rows: Int) -> [String] {
        let ordered = glance.processes.sorted { ($1.footprint, $0.pid) < ($0.footprint, $1.pid) }
        let shown = ordered.count > rows ? max(0, rows - 1) : ordered.count
        var lines = ordered.prefix(shown).map { line(for: $0, largest: ordered.first?.footprint ?? .zero) }
        if shown < ordered.count, rows > 0 {
            let rest = ordered.dropFirst(shown)
            let total = rest.reduce(ByteCount.zero) { $0 + $1.footprint }
            lines.append(fit("… \(rest.count) more hold \(total.readable)"))
        }
        return lines + Array(repeating: "", count: max(0, rows - lines.count))
    }

    private func line(for process: ProcessGlance, largest: ByteCount) -> String {
        let widths = LiveScreen.widths
        let state = process.phase.rawValue
        let text =
            pad(process.app, widths.app) + pad(state, widths.state) + lead("\(process.band)", widths.band)
            + lead(process.footprint.readable, widths.size) + lead(Progress.clock(process.age), widths.time)
            + lead(process.idle == .zero ? "-" : Progress.clock(process.idle), widths.time)
        let room = min(40, size.columns - LiveScreen.columns(of: text) - 2)
        guard room > 3, largest > .zero else { return fit(text) }
        func length(_ size: ByteCount) -> Int { Int(Int64(size.bytes) * Int64(room) / Int64(largest.bytes)) }
        let compressed = length(min(process.footprint, process.compressed))
        let bar =
            "  " + String(repeating: squares.held, count: length(process.footprint) - compressed)
            + String(repeating: squares.compressed, count: compressed)
        return fit(text) + paint(bar, process.phase.isForeground ? .strong : .quiet)
    }

    // MARK: Events

    /// Whether the event matters to a person watching the run.
    static func isWorthALine(_ event: RunEvent) -> Bool {
        switch event.kind {
        case .pressureLevel, .warning, .exit, .firstFrame: true
        case .action: event.detail != "purge"
        default: false
        }
    }

    /// - Parameter decimals: The decimals of the time, in seconds.
    static func line(for event: RunEvent, decimals: Int = 0) -> String {
        let what =
            switch event.kind {
            case .pressureLevel: "pressure \(event.detail)"
            case .warning: "warned \(event.app ?? "") (\(event.detail))"
            case .exit: "ended \(event.app ?? "") (\(event.detail))"
            case .firstFrame: "\(event.app ?? "") shows its first frame (\(event.detail))"
            default: ReclaimAction.Kind(rawValue: event.detail).map { words(for: $0, event.app ?? "") } ?? event.detail
            }
        let reason = event.reason.map { ": \($0)" } ?? ""
        return "\(time(event.at, decimals: decimals))  \(what)\(reason)"
    }

    /// What a policy did to an app.
    private static func words(for action: ReclaimAction.Kind, _ app: String) -> String {
        switch action {
        case .warn: "warned \(app)"
        case .purge: "purged \(app)"
        case .discard: "discarded caches of \(app)"
        case .dropFiles: "dropped files of \(app)"
        case .compress: "compressed \(app)"
        case .freeze: "froze \(app)"
        case .thaw: "thawed \(app)"
        case .suspend: "suspended \(app)"
        case .disconnectScene: "disconnected a scene of \(app)"
        case .terminatePolitely: "asked \(app) to end"
        case .terminate: "is ending \(app)"
        }
    }

    private func lastEvents(rows: Int) -> [String] {
        let shown = log.suffix(rows).map { event in
            let look: Look =
                switch event.kind {
                case .exit: .critical
                case .warning, .pressureLevel: .warning
                default: .plain
                }
            let decimals = isPaused ? LiveScreen.decimals(of: plan.monitor.interval) : 0
            return paint(fit(LiveScreen.line(for: event, decimals: decimals)), look)
        }
        return shown + Array(repeating: "", count: max(0, rows - shown.count))
    }
}
