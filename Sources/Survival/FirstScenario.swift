import Plan
import Quantities
import Scenario
import Workload

/// The first scenario of a new user: the answers to six questions, and the text with comments that follows from them.
///
/// Every question has a default. An answer is checked by loading the scenario that it leads to, so a refusal has the
/// words of the scenario's own diagnostics. Runs use the accounting backend and objects of 64 KiB, as on a common day
/// (`CommonDay`): they take a second or two, and the host needs no memory for the device.
public struct FirstScenario: Sendable {
    /// Why a name or an answer is refused, in one sentence.
    public struct Refusal: Error, Hashable, Sendable {
        /// What is wrong, and what would be right.
        public let reason: String
    }

    /// A question, in the order in which a person is asked.
    public enum Question: String, CaseIterable, Sendable {
        case device
        case apps
        case day
        case duration
        case policy
        case expect

        /// What is asked, and what an answer looks like.
        public var words: String {
            switch self {
            case .device: "The device, one of `plimsoll list devices`"
            case .apps: "The apps: a number up to \(FirstScenario.most), or kinds of `plimsoll list apps`, with commas"
            case .day: "What the user does: " + CommonDay.allCases.map(\.rawValue).joined(separator: ", ")
            case .duration: "How long, from \(FirstScenario.shortest) to \(FirstScenario.longest)"
            case .policy: "The policy, one of `plimsoll list policies`"
            case .expect: "What must hold, with commas; `nothing` if all may happen"
            }
        }

        /// The default, in words.
        public var standard: String {
            switch self {
            case .device: "iphone-13"
            case .apps: "\(CommonDay.fleet.count)"
            case .day: CommonDay.gaming.rawValue
            case .duration: "1h, of everyday 24h"
            case .policy: "the device's own"
            case .expect: "terminations_foreground == 0"
            }
        }
    }

    /// The most apps: more of them make a text that a new user does not read.
    static let most = 40
    /// A shorter run ends before the user has done much.
    static let shortest = TimeSpan.minutes(5)
    /// The tables of a longer run are large.
    static let longest = TimeSpan.hours(48)

    /// An app of the user's own, beside those of the answers.
    public struct OwnApp: Hashable, Sendable {
        /// Its name in the scenario.
        public var name: String
        /// The kind of app that is most like it, one of `plimsoll list apps`.
        public var like: String
        /// Its most memory in ten minutes alone in front (`Sizing`); nil: that of its kind.
        public var footprint: ByteCount?
        /// The keys of its memory that are not those of its kind, so that it has its footprint.
        fileprivate var sizes: [Size] = []

        fileprivate struct Size: Hashable, Sendable {
            let key: String
            let value: Tree
        }

        /// An app of the user's own; the values are checked when it is added.
        public init(name: String, like: String, footprint: ByteCount?) {
            (self.name, self.like, self.footprint) = (name, like, footprint)
        }

        /// It as the scenario has it. Objects are as large as those of the other apps.
        fileprivate var tree: Tree {
            let memory = sizes.map { ($0.key, $0.value) } + [("objects", .record([("constant", .plain("64KiB"))]))]
            return .record([("name", .string(name)), ("like", .string(like)), ("memory", .record(memory))])
        }
    }

    private let name: String
    private var own: OwnApp?
    private var device = Question.device.standard
    private var apps = FirstScenario.apps(of: CommonDay.fleet.map(\.archetype))
    private var day = CommonDay.gaming
    private var duration: TimeSpan?
    /// Nil: the device's own.
    private var policy: String?
    /// Nil: the default.
    private var given: [String]?

    /// The scenario with all defaults.
    ///
    /// - Parameter name: The scenario's name, with or without `.yaml` behind it.
    public init(named name: String) throws(Refusal) {
        self.name = name.hasSuffix(".yaml") ? String(name.dropLast(5)) : name
        _ = try plan()
    }

    /// The name of the scenario's file.
    public var file: String { "\(name).yaml" }

    /// The plan of the scenario.
    public func plan() throws(Refusal) -> RunPlan {
        switch ScenarioLoader.load(text: text, file: file) {
        case .success(let plan): return plan
        case .failure(.invalid(let faults)), .failure(.lacking(let faults)):
            throw Refusal(reason: faults.first?.message ?? "\(faults)")
        case .failure(let fault): throw Refusal(reason: "\(fault)")
        }
    }

    /// Puts an app of the user's own among the others, or leaves all as it was and says why. The user opens it at 30 s,
    /// from 12 minutes on every 17 minutes, and as the seed decides; without another claim, the scenario claims that it
    /// survives. A footprint is measured in runs of the app alone, as `plimsoll survive` does.
    ///
    /// - Throws: `Refusal`, or what the runs throw.
    public mutating func add(_ app: OwnApp, player: FatePlayer = FatePlayer()) throws {
        var next = self
        next.own = app
        guard Archetype.named(app.like) != nil else {
            throw FirstScenario.unknown("kind of app", app.like, among: Archetype.all.map(\.name))
        }
        guard !all.contains(where: { $0.name == app.name }) else {
            throw Refusal(reason: "app: '\(app.name.shortened())' is another app of the scenario; give another name")
        }
        let plan = try next.plan()
        if let footprint = app.footprint, let profile = plan.apps.first(where: { $0.name == app.name }) {
            let sized = try Sizing(profile, player: player).app(profile, at: footprint)
            next.own?.sizes = EffectiveScenario.memory(of: sized.memory, unlike: profile.memory)
                .map { .init(key: $0.0, value: $0.1) }
            _ = try next.plan()
        }
        self = next
    }

    /// What a question's empty answer means, in words.
    public func standard(of question: Question) -> String {
        question == .expect ? claims(nil).joined(separator: ", ") : question.standard
    }

    /// The claims: those given, or the default.
    private func claims(_ given: [String]?) -> [String] {
        given ?? [own.map { "\($0.name) survives" } ?? Question.expect.standard]
    }

    /// Takes an answer, or leaves all as it was and says why.
    public mutating func answer(_ question: Question, _ text: String) throws(Refusal) {
        var next = self
        switch question {
        case .device: next.device = text
        case .apps: next.apps = try FirstScenario.apps(in: text)
        case .day:
            guard let day = CommonDay(rawValue: text) else {
                throw FirstScenario.unknown("day", text, among: CommonDay.allCases.map(\.rawValue))
            }
            next.day = day
        case .duration: next.duration = try FirstScenario.duration(in: text)
        case .policy: next.policy = text
        case .expect: next.given = text == "nothing" ? [] : text.split(separator: ",").map(\.trimmed)
        }
        do {
            _ = try next.plan()
        } catch {
            guard question == .expect, own == nil, let app = next.unknownApp else { throw error }
            throw Refusal(reason: "\(error.reason); --app \(app) adds an app of yours")
        }
        self = next
    }

    /// A name of which a claim says that it survives, and that no app has.
    private var unknownApp: String? {
        claims(given).compactMap { $0.wholeMatch(of: /([A-Za-z][A-Za-z0-9_-]*) survives/).map { String($0.1) } }
            .first { name in !all.contains { $0.name == name } }
    }

    // MARK: Answers

    private static func unknown(_ kind: String, _ text: String, among names: [String]) -> Refusal {
        let advice = Nearest.advice(for: text, among: names, kind: "\(kind)s")
        return Refusal(reason: "there is no \(kind) '\(text.shortened())'\(advice)")
    }

    private static func duration(in text: String) throws(Refusal) -> TimeSpan {
        guard let duration = try? TimeSpan(parsing: text), duration >= shortest, duration <= longest else {
            throw Refusal(reason: "duration: expected \(TimeSpan.expectation), from \(shortest) to \(longest)")
        }
        return duration
    }

    /// The apps of an answer. A number stands for that many apps of a common day, the most popular first, over and over
    /// if it has not so many.
    private static func apps(in text: String) throws(Refusal) -> [(name: String, archetype: String)] {
        let count = text.isDigits ? Int(text) ?? .max : nil
        let kinds = text.split(separator: ",").map(\.trimmed)
        guard (1...most).contains(count ?? kinds.count) else {
            throw Refusal(reason: "apps: expected a number from 1 to \(most), or as many kinds, such as mail,browser")
        }
        if let count { return apps(of: (0..<count).map { CommonDay.fleet[$0 % CommonDay.fleet.count].archetype }) }
        for kind in kinds where Archetype.named(kind) == nil {
            throw unknown("kind of app", kind, among: Archetype.all.map(\.name))
        }
        return apps(of: kinds)
    }

    /// Apps of these kinds, each under the name that it has on a common day, or that of its kind. A second app of a
    /// kind has a number behind its name.
    private static func apps(of kinds: [String]) -> [(name: String, archetype: String)] {
        var apps: [(name: String, archetype: String)] = []
        for kind in kinds {
            let name = CommonDay.fleet.first { $0.archetype == kind }?.name ?? kind
            let earlier = apps.count { $0.archetype == kind }
            apps.append((earlier == 0 ? name : "\(name)-\(earlier + 1)", kind))
        }
        return apps
    }

    // MARK: The scenario

    /// The kind of app that a day with a game needs.
    private static let game = Archetype.bigGame.name

    /// All apps of the answers, with a game where the day needs one.
    private var all: [(name: String, archetype: String)] {
        let lacksGame = day == .gaming && !apps.contains { $0.archetype == FirstScenario.game }
        return lacksGame ? apps + FirstScenario.apps(of: [FirstScenario.game]) : apps
    }

    private var length: TimeSpan { duration ?? day.duration }

    /// When the user is back at an app of the user's own, which other apps have pushed aside by then.
    private static let back = TimeSpan.minutes(12)

    /// What the user and the system do. Nothing begins when the run is over.
    private var events: [Tree] {
        func first(_ archetype: Archetype) -> String? { all.first { $0.archetype == archetype.name }?.name }
        var events = [CommonDay.event([("at", "0s"), ("launch", all[0].name)])]
        if let own {
            events.append(CommonDay.event([("at", "30s"), ("launch", own.name)]))
            if length > FirstScenario.back {
                let words = [("every", "17min"), ("from", "\(FirstScenario.back)"), ("launch", own.name)]
                events.append(CommonDay.event(words))
            }
        }
        events.append(day.modelled(from: own == nil ? "30s" : "1min", to: "\(length)"))
        if day == .gaming, length > .minutes(8), let game = first(.bigGame) {
            events.append(CommonDay.event([("every", "14min"), ("from", "8min"), ("launch", game)]))
        }
        if let chat = first(.messaging) { events.append(CommonDay.pushes(to: chat)) }
        if length > .minutes(10), let mail = first(.mail) { events.append(CommonDay.refreshes(of: mail)) }
        return events
    }

    private var eventsInWords: String {
        guard let own, length > FirstScenario.back else { return sessionsInWords }
        return "\(sessionsInWords)\n\(own.name) is opened at 30 s, and every 17 minutes from \(FirstScenario.back) on."
    }

    private var sessionsInWords: String {
        switch day {
        case .commuter: "The user opens apps in sessions, some minutes apart. The seed decides which."
        case .gaming: "The user opens apps in sessions, as the seed decides, and every 14 minutes the game."
        case .everyday: "The run begins at midnight. The seed decides when the user opens which apps."
        }
    }

    /// One part of the text: a comment, and the key below it.
    private struct Part {
        let comment: String
        var keys: [(String, Tree)] = []

        var text: String {
            let lines = comment.split(separator: "\n").map { "# \($0)\n" }
            return lines.joined() + Tree.record(keys).denseYAML
        }
    }

    private var head: Part {
        Part(
            comment: """
                \((all.count + (own == nil ? 0 : 1)).counted("app")) on the device \(device) for \(length).
                Run it with: plimsoll run \(ShellWord.quoted(file))
                Change what you like. plimsoll validate finds all faults, and plimsoll schema scenario has every key.
                """, keys: [("plimsoll", .plain("1")), ("name", .string(name))])
    }

    private var memory: Part {
        Part(
            comment: """
                accounting: Plimsoll only computes what real memory would do. Without this key the memory is real, and
                the run needs as much of it as the device has; with scale: 12.5% an eighth.
                """, keys: [("backend", .plain("accounting"))])
    }

    private var reclaim: Part {
        guard let policy else {
            return Part(comment: "The policy is the device's own. Another one is a key, such as policy: ladder")
        }
        return Part(
            comment: "Without this key the policy is the device's own. All: plimsoll list policies",
            keys: [("policy", .string(policy))])
    }

    private var fleet: Part {
        var apps = all.map { CommonDay.app($0.name, like: $0.archetype) }
        if let own { apps.insert(own.tree, at: min(CommonDay.place, apps.count)) }
        let yours =
            own.map {
                let most = $0.footprint.map { ", \($0) at most in ten minutes alone in front" } ?? ""
                return "\($0.name) is yours: like \($0.like)\(most)."
            }
            ?? "An app of yours: { name: mine, like: plain, memory: { footprint: 180MiB } }"
        return Part(
            comment: """
                The most popular app comes first. All kinds with their sizes: plimsoll list apps
                \(yours)
                """, keys: [("apps", .list(apps))])
    }

    private var parts: [Part] {
        [
            head,
            Part(comment: "Another seed is another user: --seed 2", keys: [("seed", .plain("1"))]),
            Part(comment: "Virtual time: a run takes seconds.", keys: [("duration", .plain("\(length)"))]),
            memory,
            Part(
                comment: "All figures, and where they come from: plimsoll list devices \(device)",
                keys: [("device", .record([("like", .string(device))]))]),
            reclaim,
            fleet,
            Part(comment: eventsInWords, keys: [("user", .list(events))]),
            Part(
                comment: "A run that breaks a claim ends with status 99. What can be claimed: plimsoll list metrics",
                keys: [("expect", .list(claims(given).map { .string($0) }))]),
        ]
    }

    /// The scenario as a text with comments.
    public var text: String { parts.map(\.text).joined(separator: "\n") }
}
