import Plan
import Quantities
import Scenario
import Workload

/// Turns one user's record of app use into a scenario with the apps, and the same launches and switches at the same
/// times.
public struct AppUsageImport: Sendable {
    /// An action of the user in the scenario.
    public struct Deed: Hashable, Sendable {
        /// The action: a launch, a switch, or the way to the home screen.
        public enum Kind: Hashable, Sendable {
            /// The first use of an app, by its index in `apps`.
            case launch(app: Int)
            /// A return to an app, by its index in `apps`.
            case switchTo(app: Int)
            case home
        }

        /// The time since the user's first event.
        public var at: TimeSpan
        public var kind: Kind
    }

    /// An app of the scenario.
    public struct App: Hashable, Sendable {
        /// Its name in the scenario: valid and unique.
        public let name: String
        /// The name in the trace.
        public let recorded: String
        /// The archetype that the name suggests.
        public let like: String
    }

    /// The user's name in the trace.
    public let user: String
    /// The apps in the order of their first use.
    public let apps: [App]
    /// The user's actions in the order of time.
    public let deeds: [Deed]
    let trace: UsageTrace
    let records: [UsageRecord]
    /// The time by which idle times were shortened in total.
    let shortened: TimeSpan
    /// The number of events that change nothing: opened while in front, closed while not in front.
    let passedOver: Int

    /// Reads the trace at a path.
    ///
    /// - Parameters:
    ///   - user: The user to follow; optional if the trace has only one user.
    ///   - longestIdle: Shortens times without an app in front to this length; nil keeps them.
    /// - Throws: Why the file cannot be read, its first fault with line and column, or a list of the users if `user` is
    ///   missing or unknown.
    public init(path: String, user: String?, longestIdle: TimeSpan?) throws(ScenarioFault) {
        try self.init(
            SourceText.read(path, as: "a usage trace"), file: path, user: user, longestIdle: longestIdle)
    }

    /// Reads the bytes of a trace; see `init(path:user:longestIdle:)`.
    public init(_ bytes: [UInt8], file: String, user: String?, longestIdle: TimeSpan?) throws(ScenarioFault) {
        trace = try UsageTrace(bytes, file: file, user: user)
        let position = try AppUsageImport.position(of: user, in: trace)
        self.user = trace.users[position]
        // Recorders write the events of one second in any order; the order in the file decides.
        let mine = trace.records
        records = mine.indices.sorted { (mine[$0].at, $0) < (mine[$1].at, $1) }.map { mine[$0] }
        var play = UsagePlay(longestIdle: longestIdle)
        for (index, record) in records.enumerated() {
            play.take(record, next: index + 1 < records.count ? records[index + 1] : nil)
        }
        var names = ImportedNames()
        apps = play.apps.map { App(name: names.name(for: $0), recorded: $0, like: KnownApps.archetype(of: $0)) }
        deeds = play.deeds
        shortened = play.shortened
        passedOver = play.passedOver
        try check()
    }

    private static func position(of user: String?, in trace: UsageTrace) throws(ScenarioFault) -> Int {
        let shown = trace.users.prefix(20).map { onOneLine($0, atMost: 40) }.joined(separator: ", ")
        let list = shown + (trace.users.count > 20 ? " and \(trace.users.count - 20) more" : "")
        guard let user else {
            guard trace.users.count > 1 else { return 0 }
            throw trace.source.fault(
                at: 0, "the trace holds \(trace.users.count) users; choose one with --user: \(list)")
        }
        if let position = trace.users.firstIndex(of: user) { return position }
        throw .invalid([
            Diagnostic(
                location: .option("--user \(onOneLine(user, atMost: 40))"),
                message: "the trace has no such user; it has \(list)")
        ])
    }

    /// Throws if the scenario would exceed the format's limits.
    private func check() throws(ScenarioFault) {
        let (mostApps, mostDeeds, longest) = (RunPlan.mostApps, 100_000, TimeSpan.hours(24 * 999))
        let fault: String? =
            if apps.isEmpty {
                "user \(onOneLine(user, atMost: 40)) never opens an app"
            } else if apps.count > mostApps {
                "\(apps.count) apps are too many; at most \(mostApps)"
            } else if deeds.count > mostDeeds {
                "\(deeds.count) launches, switches and returns to the home screen are too many; at most \(mostDeeds)"
            } else if duration > longest {
                "the events span \(duration.inDays) days; at most \(longest.inDays), which --longest-idle may help with"
            } else {
                nil
            }
        if let fault { throw trace.source.fault(at: 0, fault) }
    }

    /// The run continues for a minute after the last event.
    var duration: TimeSpan { (deeds.last?.at ?? .zero) + .minutes(1) }

    /// The figures of the trace, one per line, for people and scripts.
    public var summary: String {
        func events(_ event: UsageRecord.Event) -> String { "\(records.filter { $0.event == event }.count)" }
        func deeds(_ matches: (Deed.Kind) -> Bool) -> String { "\(self.deeds.filter { matches($0.kind) }.count)" }
        let isLaunch: (Deed.Kind) -> Bool = {
            guard case .launch = $0 else { return false }
            return true
        }
        let span = records[records.count - 1].at - records[0].at
        return importReport([
            ("lines", "\(trace.lines)"), ("users", "\(trace.users.count)"), ("user", onOneLine(user, atMost: 40)),
            ("opened", events(.opened)), ("closed", events(.closed)), ("interactions", events(.interaction)),
            ("broken", events(.broken)), ("passed_over", "\(passedOver)"), ("apps", "\(apps.count)"),
            ("apps_known", "\(apps.filter { $0.like != "plain" }.count)"), ("launches", deeds(isLaunch)),
            ("switches", deeds { !isLaunch($0) && $0 != .home }), ("homes", deeds { $0 == .home }),
            ("span_s", Instant(microseconds: span.microseconds).secondsText),
            ("shortened_s", Instant(microseconds: shortened.microseconds).secondsText),
            ("duration_s", Instant(microseconds: duration.microseconds).secondsText),
        ])
    }
}

/// Follows the events and keeps track of the app in front.
private struct UsagePlay {
    let longestIdle: TimeSpan?
    private(set) var apps: [String] = []
    private(set) var deeds: [AppUsageImport.Deed] = []
    private(set) var shortened = TimeSpan.zero
    private(set) var passedOver = 0
    private var positions: [String: Int] = [:]
    private var front: Int?
    private var start: Instant?
    private var last = Instant.zero

    init(longestIdle: TimeSpan?) { self.longestIdle = longestIdle }

    /// An opening within this time of a closing is a switch rather than a visit to the home screen.
    private static let atOnce = TimeSpan.seconds(1)

    mutating func take(_ record: UsageRecord, next: UsageRecord?) {
        leaveIfSilent(until: record)
        if front == nil, let longestIdle, start != nil, record.at - last > longestIdle {
            shortened += record.at - last - longestIdle
        }
        switch record.event {
        case .opened, .interaction: open(record)
        case .closed, .broken: close(record, next)
        }
        last = record.at
    }

    private mutating func open(_ record: UsageRecord) {
        if let front, apps[front] == record.app {
            if record.event == .opened { passedOver += 1 }
            return
        }
        if let known = positions[record.app] {
            front = known
            add(.switchTo(app: known), at: record.at)
        } else {
            positions[record.app] = apps.count
            front = apps.count
            apps.append(record.app)
            add(.launch(app: apps.count - 1), at: record.at)
        }
    }

    private mutating func close(_ record: UsageRecord, _ next: UsageRecord?) {
        guard let app = front, apps[app] == record.app else {
            passedOver += 1
            return
        }
        front = nil
        let isSwitch = next.map { $0.at - record.at <= UsagePlay.atOnce && $0.isUse && $0.app != record.app } ?? false
        if !isSwitch { add(.home, at: record.at) }
    }

    /// After `UserModel.silence` without a record, the user counts as having put the phone away. But if the next record
    /// closes the app in front, the user was probably watching a film.
    private mutating func leaveIfSilent(until record: UsageRecord) {
        guard let app = front, record.at - last > UserModel.silence, record.isUse || apps[app] != record.app
        else { return }
        front = nil
        last = last + UserModel.silence
        add(.home, at: last)
    }

    private mutating func add(_ kind: AppUsageImport.Deed.Kind, at instant: Instant) {
        let start = self.start ?? instant
        self.start = start
        deeds.append(AppUsageImport.Deed(at: instant - start - shortened, kind: kind))
    }
}

extension UsageRecord {
    /// Whether the event puts the app in front.
    fileprivate var isUse: Bool {
        switch event {
        case .opened, .interaction: true
        case .closed, .broken: false
        }
    }
}

extension TimeSpan {
    /// In days, a begun one counted: what is too long is then said to be longer than what is allowed.
    fileprivate var inDays: Int64 { (microseconds + 86_399_999_999) / 86_400_000_000 }
}
