import Memory
import Quantities
import Scenario

/// The content of a JetsamEvent report (`.ips`, bug type 298): a device's state when jetsam ended a process.
///
/// Versions differ, as seen in reports of iOS 10.1 to 14.2 and on Apple's page "Identifying high-memory use with jetsam
/// event reports": iOS 10 to 12 lack `priority`, pages have 4 or 16 KiB, `states` may be empty, and the order of keys
/// varies. The reader ignores keys that it does not need.
public struct JetsamReport: Sendable {
    /// The system's pages by use. All counts are in pages of `pageSize`.
    public struct Pages: Hashable, Sendable {
        /// Pages in the system's lists of these names.
        public var active, inactive, free, wired: Int
        public var speculative = 0
        public var throttled = 0
        /// The active, inactive and speculative pages that a file backs; the system can drop them.
        public var fileBacked = 0
        /// The pages that hold compressed memory.
        public var compressor = 0
        /// The pages that were compressed into these; 0 if the report does not say.
        public var uncompressed = 0
        /// The active, inactive and speculative pages that no file backs.
        public var anonymous = 0

        /// All pages: the device's RAM without the part that its firmware keeps.
        public var all: Int { active + inactive + free + wired + speculative + throttled + compressor }
        /// The pages that jetsam counts as available: free or backed by a file (xnu's `memorystatus_available_pages`).
        public var available: Int { min(free + max(fileBacked, speculative), all - wired - compressor) }
    }

    /// The pages of a process that no file backs (`physicalPages.internal`).
    public struct OwnPages: Hashable, Sendable {
        public var resident, compressed: Int
    }

    /// A process of the report, with the figures the import needs.
    public struct Process: Hashable, Sendable {
        public var name: String
        public var pid: Int?
        /// The footprint, including compressed pages.
        public var pages: Int
        /// The largest footprint of the process's life, in pages.
        public var lifetimeMaximum: Int?
        /// The jetsam band, on the report's own scale.
        public var priority: Int?
        /// The states as the report spells them, such as `suspended` or `frontmost`; may be empty.
        public var states: [String]
        /// The identifier of a group of processes with common accounting: an app and its helpers.
        public var coalition: Int?
        /// Why jetsam ended it; nil if it did not.
        public var reason: String?
        /// How long it has lived, in ticks of 24 MHz; nil if the report does not say.
        public var age: Int?
        /// The pages of its own that are in memory, and those that are compressed; nil if the report does not say.
        public var own: OwnPages?
        /// When jetsam ended it: the time since the report was begun, in the report's unit. Nil if the report does not
        /// say.
        public var endedAfter: Int?
        /// 0 or nil for a process that lived when the report was begun; later ones were added to its end.
        public var generation: Int?
        /// The CPU time that it has used; nil if the report does not say.
        public var cpuTime: TimeSpan?
        /// Whose code it is, as the system sees it (`csTrustLevel`, from iOS 17 on); nil if the report does not say.
        public var trustLevel: Int?
        /// Why the system does not freeze it (`freeze_skip_reason:`, from iOS 14 on); nil if the report does not say.
        public var skipsFreezer: String?
    }

    /// The system as the report names it: `iPhone OS 14.2 (18B5061e)`.
    public let system: String?
    /// The device's model as the report names it: `iPhone12,1`.
    public let product: String?
    /// The report's date, as written.
    public let date: String?
    /// The size of a page, in bytes.
    public let pageSize: Int
    public let pages: Pages
    /// The processes in the report's order: band by band, least recently used first. Jetsam ends them in this order.
    public private(set) var processes: [Process]
    /// The offset of the process list in the text, for faults that concern the whole list.
    let source: SourceText
    let listOffset: Int

    /// Reads a report.
    ///
    /// - Parameter file: The report's name, for messages.
    /// - Throws: The first fault, with line and column.
    public init(_ bytes: [UInt8], file: String) throws(ScenarioFault) {
        source = try SourceText(file: file, bytes: bytes, as: "a JetsamEvent report")
        do throws(TextFault) {
            let (header, body) = try JetsamReport.parts(bytes)
            if let fault = JetsamReport.foreign(header, body) { throw fault }
            let fields = ReportFields(body, of: "the report")
            system = header?["os_version"]?.text ?? body["os_version"]?.text ?? body["build"]?.text
            date = header?["timestamp"]?.text ?? body["date"]?.text
            product = body["product"]?.text
            let status = try fields.object("memoryStatus")
            pageSize = try status.whole("pageSize", 1_024...65_536)
            pages = try JetsamReport.pages(status, pageSize: pageSize)
            let list = try fields.list("processes")
            listOffset = list.offset
            let most = MemoryLimits.highestCeiling.bytes / pageSize
            var processes: [Process] = []
            for (index, node) in list.elements.enumerated() {
                processes.append(try JetsamReport.process(ReportFields(node, of: "process \(index + 1)"), most: most))
            }
            self.processes = processes
        } catch {
            throw source.fault(at: error.offset, error.message)
        }
    }

    /// The header line, if there is one, and the report itself.
    private static func parts(_ bytes: [UInt8]) throws(TextFault) -> (header: JSONNode?, body: JSONNode) {
        if let fault = ForeignReport.fault(inText: bytes) { throw fault }
        var reader = JSONReader(bytes)
        guard let first = try reader.next() else {
            throw TextFault(offset: 0, message: "the file is empty; expected a JetsamEvent report")
        }
        if let fault = ForeignReport.fault(in: first) { throw fault }
        guard case .object = first.content else {
            throw TextFault(offset: first.offset, message: "expected a JetsamEvent report, not \(first.summary)")
        }
        // A report without its header is just as useful.
        if first["processes"] != nil { return (nil, first) }
        if let type = first["bug_type"], let text = type.text ?? type.number.map({ "\($0)" }), text != "298" {
            throw ForeignReport.fault(ofType: type, text)
        }
        guard let body = try reader.next() else {
            throw TextFault(
                offset: bytes.count, message: "the file ends here; expected the report behind its header line")
        }
        if let more = try reader.next() {
            throw TextFault(offset: more.offset, message: "the report ends before this; expected nothing after it")
        }
        return (first, body)
    }

    /// Why this is no report of a phone or tablet, if it says so.
    private static func foreign(_ header: JSONNode?, _ body: JSONNode) -> TextFault? {
        func named(_ nodes: JSONNode?...) -> (name: String, offset: Int)? {
            nodes.lazy.compactMap { node in node.flatMap { node in node.text.map { (name: $0, offset: node.offset) } } }
                .first
        }
        return ForeignReport.fault(
            ofDevice: named(body["product"]), named(header?["os_version"], body["os_version"], body["build"]))
    }

    private static func pages(_ status: ReportFields, pageSize: Int) throws(TextFault) -> Pages {
        let counts = try status.object("memoryPages")
        let most = MemoryLimits.highestCeiling.bytes / pageSize
        var pages = Pages(
            active: try counts.whole("active", 0...most), inactive: try counts.whole("inactive", 0...most),
            free: try counts.whole("free", 0...most), wired: try counts.whole("wired", 0...most))
        pages.speculative = try counts.wholeIfAny("speculative", 0...most) ?? 0
        pages.throttled = try counts.wholeIfAny("throttled", 0...most) ?? 0
        pages.fileBacked = try counts.wholeIfAny("fileBacked", 0...most) ?? 0
        pages.compressor = try status.wholeIfAny("compressorSize", 0...most) ?? 0
        pages.uncompressed = try status.wholeIfAny("uncompressed", 0...(most * 16)) ?? 0
        pages.anonymous =
            try counts.wholeIfAny("anonymous", 0...most)
            ?? max(0, pages.active + pages.inactive + pages.speculative - pages.fileBacked)
        let size = ByteCount(pages.all * pageSize)
        guard size >= .mebibytes(1), size <= MemoryLimits.highestCeiling else {
            throw TextFault(
                offset: counts.node.offset,
                message: "these pages make \(size.readable); a device has from 1MiB to \(MemoryLimits.highestCeiling)")
        }
        return pages
    }

    private static func process(_ fields: ReportFields, most: Int) throws(TextFault) -> Process {
        var process = Process(
            name: try fields.text("name"), pages: try fields.whole("rpages", 0...most), states: [])
        process.pid = try fields.wholeIfAny("pid", 0...Int(Int32.max))
        process.lifetimeMaximum = try fields.wholeIfAny("lifetimeMax", 0...most)
        process.priority = try fields.wholeIfAny("priority", -1...999)
        process.coalition = fields.node["coalition"]?.number.flatMap { Int($0) }
        process.reason = fields.node["reason"]?.text
        process.age = fields.node["age"]?.number.flatMap { Int($0) }
        process.endedAfter = fields.node["killDelta"]?.number.flatMap { Int($0) }
        process.generation = fields.node["genCount"]?.number.flatMap { Int($0) }
        process.cpuTime = fields.node["cpuTime"]?.number.flatMap(TimeSpan.init(seconds:))
        process.trustLevel = fields.node["csTrustLevel"]?.number.flatMap { Int($0) }
        process.skipsFreezer = fields.node["freeze_skip_reason:"]?.text ?? fields.node["freeze_skip_reason"]?.text
        process.own = OwnPages(fields.node["physicalPages"]?["internal"], most: most)
        guard let states = fields.node["states"] else { return process }
        guard case .array(let words) = states.content else {
            throw TextFault(offset: states.offset, message: "states: expected a list of texts, not \(states.summary)")
        }
        process.states = words.compactMap(\.text)
        return process
    }
}

extension JetsamReport {
    /// The report with the processes that lived when it was begun, and those that were launched later.
    var atItsMoment: (report: JetsamReport, late: [Process]) {
        var report = self
        report.processes = Array(processes[..<listed])
        return (report, Array(processes[listed...]))
    }
}

extension JetsamReport.OwnPages {
    /// Nil if the node is no list of two counts.
    fileprivate init?(_ node: JSONNode?, most: Int) {
        guard case .array(let counts)? = node?.content, counts.count >= 2,
            let resident = counts[0].number.flatMap({ Int($0) }),
            let compressed = counts[1].number.flatMap({ Int($0) }),
            (0...most).contains(resident), (0...most).contains(compressed)
        else { return nil }
        self.init(resident: resident, compressed: compressed)
    }
}

extension TimeSpan {
    /// A number of seconds as a report writes it; nil if it is no time of a process.
    fileprivate init?(seconds text: String) {
        guard let seconds = Double(text), (0...1e9).contains(seconds) else { return nil }
        self.init(microseconds: Int64(seconds * 1_000_000))
    }
}

extension JSONNode {
    fileprivate var text: String? {
        guard case .string(let text) = content else { return nil }
        return text
    }

    fileprivate var number: String? {
        guard case .number(let text) = content else { return nil }
        return text
    }
}

/// An object of a report, with its name for messages.
private struct ReportFields {
    let node: JSONNode
    let name: String

    init(_ node: JSONNode, of name: String) {
        self.node = node
        self.name = name
    }

    private func field(_ key: String, _ expected: String) throws(TextFault) -> JSONNode {
        guard case .object = node.content else {
            throw TextFault(offset: node.offset, message: "\(name): expected an object, not \(node.summary)")
        }
        guard let value = node[key] else {
            throw TextFault(offset: node.offset, message: "\(name) lacks '\(key)'; expected \(expected)")
        }
        return value
    }

    private func wrong(_ value: JSONNode, _ key: String, _ expected: String) -> TextFault {
        TextFault(offset: value.offset, message: "\(key): expected \(expected), not \(value.summary)")
    }

    func object(_ key: String) throws(TextFault) -> ReportFields {
        ReportFields(try field(key, "an object"), of: key)
    }

    func list(_ key: String) throws(TextFault) -> (elements: [JSONNode], offset: Int) {
        let value = try field(key, "a list")
        guard case .array(let elements) = value.content else { throw wrong(value, key, "a list") }
        return (elements, value.offset)
    }

    func text(_ key: String) throws(TextFault) -> String {
        let value = try field(key, "a text")
        guard let text = value.text else { throw wrong(value, key, "a text") }
        return text
    }

    func whole(_ key: String, _ range: ClosedRange<Int>) throws(TextFault) -> Int {
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        let value = try field(key, expected)
        guard let number = value.number.flatMap({ Int($0) }), range.contains(number) else {
            throw wrong(value, key, expected)
        }
        return number
    }

    func wholeIfAny(_ key: String, _ range: ClosedRange<Int>) throws(TextFault) -> Int? {
        guard case .object = node.content, node[key] != nil else { return nil }
        return try whole(key, range)
    }
}
