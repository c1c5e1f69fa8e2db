import Metrics
import Scenario

/// A run as a timeline for trace viewers (chrome://tracing, ui.perfetto.dev), made from the run's CSV.
///
/// Every app is a process of the trace. Its first track nests the process's life, its states and its callbacks; each
/// scene has a track of its own. The device's tracks show the user's actions, the pressure level, the reclaim actions
/// and the kills, each with its reason. Counters show memory, of the device and of each app, what is in RAM and what is
/// compressed, and what the cores did. A launch is an asynchronous span with an id, from the tap to the first frame.
/// Times are virtual. Equal CSV files give equal traces.
public struct RunTrace {
    /// The run's CSV files as bytes; an absent file is empty.
    public struct Tables: Sendable {
        public var samples: [UInt8]
        public var apps: [UInt8]
        public var events: [UInt8]
        public var launches: [UInt8]
        public var cores: [UInt8]
        /// Empty for a run without kinds of pages.
        public var pages: [UInt8]

        /// Tables from the bytes of each file.
        public init(
            samples: [UInt8], apps: [UInt8], events: [UInt8], launches: [UInt8], cores: [UInt8] = [],
            pages: [UInt8] = []
        ) {
            self.samples = samples
            self.apps = apps
            self.events = events
            self.launches = launches
            self.cores = cores
            self.pages = pages
        }
    }

    var events: [TraceEvent] = []
    /// The apps' numbers in the order of first appearance; an app's process in the trace is 2 + its number.
    var appNumbers: [String: Int] = [:]
    var appNames: [String] = []
    var named: Set<TraceTrack> = []
    /// The open slices of each track, outermost first.
    var open: [TraceTrack: [TraceEvent]] = [:]
    /// Tracks in the order of their first slices.
    var tracks: [TraceTrack] = []
    /// For each process of the run: the track and the start of its open callback.
    var callbacks: [String: (track: TraceTrack, began: Int)] = [:]
    /// The instants of the samples, in order.
    var samples: [Int] = []
    var end = 0

    /// The trace as JSON.
    public static func json(of tables: Tables) -> [UInt8] {
        var trace = RunTrace()
        trace.nameDevice()
        trace.addEvents(tables.events)
        trace.addSamples(tables.samples)
        trace.addPages(tables.pages)
        trace.addCores(tables.cores)
        trace.addFootprints(tables.apps)
        trace.addLaunches(tables.launches)
        trace.closeEverything()
        return trace.written()
    }

    /// The bytes with which every trace of a run begins: its first two lines.
    public static var beginning: [UInt8] {
        let bare = json(of: Tables(samples: [], apps: [], events: [], launches: []))
        let lines = bare.split(separator: UInt8(ascii: "\n"), maxSplits: 2)
        return Array(lines[0] + [UInt8(ascii: "\n")] + lines[1])
    }

    private func written() -> [UInt8] {
        // The sort is stable, so events at one instant keep their order. Names come first.
        let order = events.indices.sorted {
            let (one, other) = (events[$0], events[$1])
            let (first, second) = (
                one.kind == .metadata ? -1 : one.microseconds, other.kind == .metadata ? -1 : other.microseconds
            )
            return (first, $0) < (second, $1)
        }
        var bytes = Array("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[".utf8)
        bytes.reserveCapacity(events.count * 120)
        for (position, index) in order.enumerated() {
            bytes += Array((position == 0 ? "\n" : ",\n").utf8)
            events[index].write(to: &bytes)
        }
        bytes += Array("\n]}\n".utf8)
        return bytes
    }

    // MARK: Names

    private mutating func nameDevice() {
        name(process: 1, "device", position: 0)
        name(.user, "user")
        name(.level, "pressure level")
        name(.actions, "reclaim actions")
        name(.kills, "kills")
    }

    private mutating func name(process: Int, _ name: String, position: Int) {
        let track = TraceTrack(process: process, thread: 0)
        metadata("process_name", track, JSON.Member(key: "name", value: .string(name)))
        metadata("process_sort_index", track, JSON.Member(key: "sort_index", value: .whole(position)))
    }

    private mutating func name(_ track: TraceTrack, _ name: String) {
        guard named.insert(track).inserted else { return }
        metadata("thread_name", track, JSON.Member(key: "name", value: .string(name)))
        metadata("thread_sort_index", track, JSON.Member(key: "sort_index", value: .whole(track.thread)))
    }

    private mutating func metadata(_ name: String, _ track: TraceTrack, _ argument: JSON.Member) {
        events.append(
            TraceEvent(
                kind: .metadata, microseconds: 0, track: track, name: name, category: "__metadata",
                arguments: [argument]))
    }

    /// The number of the trace's process that represents the app.
    mutating func number(of app: String) -> Int {
        if let known = appNumbers[app] { return known }
        let number = 2 + appNames.count
        appNumbers[app] = number
        appNames.append(app)
        name(process: number, app, position: number)
        return number
    }

    /// An app's main track, or the track of one of its scenes.
    mutating func track(of app: String, scene: String = "") -> TraceTrack {
        let scene = Int(scene)
        let track = TraceTrack(process: number(of: app), thread: scene.map { 10 + $0 } ?? 1)
        name(track, scene.map { "scene \($0)" } ?? "process")
        return track
    }

    // MARK: Slices

    mutating func begin(_ name: String, _ category: String, on track: TraceTrack, at now: Int, reason: String = "") {
        let event = TraceEvent(
            kind: .begin, microseconds: now, track: track, name: name, category: category,
            arguments: reason.isEmpty ? [] : [JSON.Member(key: "reason", value: .string(reason))])
        if open[track] == nil { tracks.append(track) }
        open[track, default: []].append(event)
        events.append(event)
    }

    /// Ends the innermost slices of the track until `depth` slices remain.
    mutating func close(_ track: TraceTrack, downTo depth: Int, at now: Int) {
        while let last = open[track]?.last, open[track, default: []].count > depth {
            open[track]?.removeLast()
            events.append(
                TraceEvent(
                    kind: .end, microseconds: max(now, last.microseconds), track: track, name: last.name,
                    category: last.category))
        }
    }

    mutating func instant(
        _ name: String, _ category: String, on track: TraceTrack, at now: Int, scope: TraceEvent.Scope = .track,
        detail: String = "", reason: String = ""
    ) {
        var arguments: [JSON.Member] = []
        if !detail.isEmpty { arguments.append(JSON.Member(key: "detail", value: .string(detail))) }
        if !reason.isEmpty { arguments.append(JSON.Member(key: "reason", value: .string(reason))) }
        events.append(
            TraceEvent(
                kind: .instant, microseconds: now, track: track, name: name, category: category, scope: scope,
                arguments: arguments))
    }

    private mutating func closeEverything() {
        for track in tracks { close(track, downTo: 0, at: end) }
    }

    /// The virtual microseconds of a cell in seconds with up to six decimals; nil if the cell is no number.
    static func microseconds(_ cell: String) -> Int? {
        let parts = cell.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, let seconds = Int(Substring(whole)) else { return nil }
        guard parts.count == 2 else { return seconds * 1_000_000 }
        let digits = parts[1].prefix(6)
        guard let fraction = Int(Substring(digits)) else { return nil }
        return (0..<(6 - digits.count)).reduce(fraction) { value, _ in value * 10 } + seconds * 1_000_000
    }
}
