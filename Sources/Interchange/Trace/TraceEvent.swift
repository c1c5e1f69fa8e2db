import Scenario

/// One event of the Trace Event Format, which chrome://tracing and Perfetto open.
struct TraceEvent {
    /// The kind of event, in the format's own letters.
    enum Kind: String {
        case begin = "B"
        case end = "E"
        case instant = "i"
        case counter = "C"
        case metadata = "M"
        /// A span that need not nest with others on its track; an id links its beginning and its end.
        case asyncBegin = "b"
        case asyncEnd = "e"
    }

    /// How far the viewer draws an instant's line.
    enum Scope: String {
        case track = "t"
        case process = "p"
        case global = "g"
    }

    var kind: Kind
    /// Virtual time in microseconds, which the format requires.
    var microseconds: Int
    var track: TraceTrack
    var name: String
    var category: String
    var scope: Scope?
    var id: Int?
    var arguments: [JSON.Member] = []

    /// Appends the event as one JSON object.
    func write(to bytes: inout [UInt8]) {
        var event = JSON.object([
            "ph": .string(kind.rawValue), "ts": .whole(microseconds), "pid": .whole(track.process),
            "tid": .whole(track.thread), "name": .string(name), "cat": .string(category),
        ])
        if let scope { event = event.adding(["s": .string(scope.rawValue)]) }
        if let id { event = event.adding(["id": .whole(id)]) }
        if !arguments.isEmpty { event = event.adding(["args": .object(arguments)]) }
        event.write(to: &bytes, .tight)
    }
}

/// A line in the viewer, which the format calls a thread of a process.
struct TraceTrack: Hashable {
    var process: Int
    var thread: Int

    /// The device's own tracks.
    static let user = TraceTrack(process: 1, thread: 1)
    static let level = TraceTrack(process: 1, thread: 2)
    static let actions = TraceTrack(process: 1, thread: 3)
    static let kills = TraceTrack(process: 1, thread: 4)
}
