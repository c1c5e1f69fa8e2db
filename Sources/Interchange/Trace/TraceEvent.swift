/// One event of the Trace Event Format, which chrome://tracing and Perfetto open.
struct TraceEvent {
    /// What kind of event it is, in the format's own letters.
    enum Kind: String {
        case begin = "B"
        case end = "E"
        case instant = "i"
        case counter = "C"
        case metadata = "M"
        /// A span that need not nest with others of its track; matched by its id.
        case asyncBegin = "b"
        case asyncEnd = "e"
    }

    enum Value {
        case text(String)
        case integer(Int)
    }

    /// How far an instant's line reaches in the viewer.
    enum Scope: String {
        case track = "t"
        case process = "p"
        case global = "g"
    }

    var kind: Kind
    /// Virtual time, in microseconds as the format wants it.
    var microseconds: Int
    var track: TraceTrack
    var name: String
    var category: String
    var scope: Scope?
    var id: Int?
    var arguments: [(String, Value)] = []

    /// Appends the event as one JSON object.
    func write(to bytes: inout [UInt8]) {
        bytes += Array("{\"ph\":\"\(kind.rawValue)\",\"ts\":\(microseconds),\"pid\":\(track.process)".utf8)
        bytes += Array(",\"tid\":\(track.thread),\"name\":".utf8)
        JSONText.write(name, to: &bytes)
        bytes += Array(",\"cat\":".utf8)
        JSONText.write(category, to: &bytes)
        if let scope { bytes += Array(",\"s\":\"\(scope.rawValue)\"".utf8) }
        if let id { bytes += Array(",\"id\":\(id)".utf8) }
        if !arguments.isEmpty {
            bytes += Array(",\"args\":{".utf8)
            for (index, (name, value)) in arguments.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONText.write(name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                switch value {
                case .text(let text): JSONText.write(text, to: &bytes)
                case .integer(let number): bytes += Array("\(number)".utf8)
                }
            }
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: "}"))
    }
}

/// A line of the viewer: a thread of a process, in the format's words.
struct TraceTrack: Hashable {
    var process: Int
    var thread: Int

    /// The device's own tracks.
    static let user = TraceTrack(process: 1, thread: 1)
    static let level = TraceTrack(process: 1, thread: 2)
    static let actions = TraceTrack(process: 1, thread: 3)
    static let kills = TraceTrack(process: 1, thread: 4)
}
