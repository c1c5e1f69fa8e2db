import Lifecycle
import Quantities
import Testing

@testable import Reclaim

/// Windows off screen of an app in front are background scenes like any other.
@Suite("windows behind the one in front")
struct WindowTests {
    private static let one = ProcessID(1)
    private static let wait = ReclaimDemand.allocation(by: ProcessID(9), wanted: .mebibytes(1))

    /// An app in front with one window on screen and the given windows off screen.
    private static func front(
        _ hidden: [SceneSnapshot], _ change: (inout ProcessSnapshot) -> Void = { _ in }
    ) -> ProcessSnapshot {
        process(1, .active, idle: 0) {
            $0.scenes = hidden + [window(9, .foregroundActive, idle: 0)]
            change(&$0)
        }
    }

    // MARK: Limits

    /// The rule that refuses to disconnect a scene, by the scene's state; the process's state does not matter.
    private static func rule(_ phase: ScenePhase, isBusy: Bool) -> String? {
        switch phase {
        case .unattached, .foregroundInactive, .foregroundActive: "phase"
        case .background, .suspended: isBusy ? "busy" : nil
        }
    }

    @Test("every state of a process and a scene: who is on screen is never disconnected, nor who is on the way")
    func limits() {
        for phase in ProcessPhase.allCases {
            for scene in ScenePhase.allCases {
                for isBusy in [false, true] {
                    let app = process(1, phase, modes: [.audio]) {
                        $0.scenes = [window(1, .foregroundActive), window(2, scene)]
                        $0.isBusy = isBusy
                    }
                    // None of these limits concerns scenes.
                    let limits = Limits(
                        terminationsPerMinute: 0, minimumStay: .hours(1), protected: [AppID(1)], protectAudible: true)
                    let refusal = Guardrails(limits).refusal(
                        of: .disconnectScene(Self.one, SceneID(2)), in: snapshot([app]))
                    #expect(
                        refusal?.rule.rawValue == Self.rule(scene, isBusy: isBusy),
                        "\(phase), \(scene), busy: \(isBusy)")
                }
            }
        }
    }

    // MARK: The ladder

    @Test("every state of two scenes of an app in front: those off screen go, those on screen never")
    func states() throws {
        for (a, b) in ScenePhase.allCases.flatMap({ a in ScenePhase.allCases.map { (a, $0) } }) {
            for phase in [ProcessPhase.active, .inactive] {
                let app = process(1, phase, idle: 0) { $0.scenes = [window(1, a), window(2, b)] }
                let decision = try policy("ladder").decide(snapshot([app]))
                let expected = [(1, a), (2, b)].filter { $0.1 == .background || $0.1 == .suspended }
                    .map { ReclaimAction.disconnectScene(Self.one, SceneID($0.0)) }
                #expect(decision.order == expected, "\(a), \(b)")
                #expect(decision.spared.map(\.pid) == [Self.one])
            }
        }
    }

    @Test("what has been off screen for longest goes first, whoever is in front")
    func order() throws {
        let all = [
            Self.front([window(1, .background, idle: 50), window(2, .background, idle: 300)]),
            process(2, idle: 100, scene: .suspended), process(3, idle: 400, scene: .suspended),
        ]
        let decision = try policy("ladder").decide(snapshot(all, level: .warning))
        #expect(
            decision.order == [
                .disconnectScene(ProcessID(3), SceneID(1)), .disconnectScene(Self.one, SceneID(2)),
                .disconnectScene(ProcessID(2), SceneID(1)), .disconnectScene(Self.one, SceneID(1)),
            ])
        #expect(decision.ranking.map(\.score) == [400, 300, 100, 50].map { $0 * 1_000_000 })
        #expect(decision.ranking[1].reason == "a window off screen of the app in front")
        #expect(decision.ranking[0].reason == "its scene is off screen")
    }

    @Test("the reason says on which screen the app is: in front, or on the second display alone")
    func screens() throws {
        let shown: [(own: ScenePhase, second: ScenePhase, reason: String)] = [
            (.foregroundActive, .foregroundActive, "in front"), (.foregroundInactive, .foregroundActive, "in front"),
            (.suspended, .foregroundActive, "on the second display"),
            (.unattached, .foregroundInactive, "on the second display"), (.foregroundActive, .suspended, "in front"),
        ]
        for (own, second, place) in shown {
            let app = process(1, .active, idle: 0) {
                $0.scenes = [window(1, .background), window(2, own), window(3, second)]
                $0.scenes[2].isExternal = true
            }
            let reasons = Set(try policy("ladder").decide(snapshot([app])).ranking.map(\.reason))
            #expect(reasons == ["a window off screen of the app \(place)"], "\(own), \(second)")
        }
    }

    @Test("every scene counts by its own time off screen, also of an app that is off screen itself")
    func ownTime() throws {
        let app = process(1, idle: 5) {
            $0.scenes = [window(1, .suspended, idle: 30), window(2, .suspended, idle: 5)]
        }
        let decision = try policy("ladder").decide(snapshot([app], level: .warning))
        #expect(decision.order == [.disconnectScene(Self.one, SceneID(1))])
        #expect(app.idleTime(of: window(1, .foregroundInactive, idle: 30), at: now) == .zero)
        // The system connected it off screen, so its idle time begins with the launch.
        let unseen = SceneSnapshot(scene: SceneID(3), phase: .background, size: .zero, lastForeground: nil)
        #expect(app.idleTime(of: unseen, at: now) == .seconds(1_000))
    }

    @Test("taken for pressure and for who waits; a limit on apps off screen is not met by it")
    func demands() throws {
        let app = Self.front([window(1, .background)])
        let demands: [(ReclaimDemand, Bool)] = [
            (.pressure(deficit: .mebibytes(1)), true), (Self.wait, true), (.nothing, false),
            (.backgroundMemory(excess: .mebibytes(1)), false), (.backgroundProcesses(excess: 1), false),
        ]
        for (demand, isTaken) in demands {
            let decision = try policy("ladder").decide(snapshot([app], demand: demand))
            #expect(!decision.order.isEmpty == isTaken, "\(demand)")
            let why = isTaken ? "; only windows off screen may be taken, the one on screen never" : ""
            #expect(decision.spared == [Spared(Self.one, reason: "in the foreground" + why)], "\(demand)")
        }
    }

    @Test("it keeps its windows while it waits for memory, may answer, is busy, or was seen there a moment ago")
    func kept() throws {
        /// The reason for sparing the app. With `forNow` the policy waits for the app instead.
        func reason(
            _ app: ProcessSnapshot, _ demand: ReclaimDemand = .pressure(deficit: .mebibytes(1)), forNow: Bool = false
        ) throws -> String {
            let decision = try policy("ladder").decide(snapshot([app], demand: demand))
            let reason = decision.spared.first?.reason ?? ""
            #expect(decision.ranking.isEmpty && decision.spared.count == 1)
            #expect(decision.standstill == (forNow ? .waiting(reason) : nil), "\(reason)")
            return reason
        }
        let kept = "in the foreground; its windows off screen stay, too: "
        let old = [window(1, .background)]
        let own = ReclaimDemand.allocation(by: Self.one, wanted: .mebibytes(1))
        #expect(try reason(Self.front(old), own) == kept + "the memory is for itself")
        let told = Self.front(old) { ($0.warnedAt, $0.answersWarning) = (now - .milliseconds(600), true) }
        #expect(try reason(told, forNow: true) == kept + "was warned and may still answer")
        #expect(try reason(Self.front(old) { $0.isBusy = true }, forNow: true) == kept + "it is busy")
        #expect(try reason(Self.front(old) { $0.isBusy = true }, Self.wait, forNow: true) == kept + "it is busy")
        let young = [window(1, .background, idle: 19)]
        #expect(try reason(Self.front(young)) == kept + "seen within disconnect_idle")
        #expect(try reason(Self.front(young) { $0.isBusy = true }) == kept + "seen within disconnect_idle")
        #expect(try reason(Self.front([])) == "in the foreground")
    }

    @Test("whoever else disconnects nothing does not begin to")
    func others() throws {
        let all = [Self.front([window(1, .background)]), process(2, scene: .suspended)]
        for type in PolicyCatalogue.all where type.name != Ladder.name {
            let order = try policy(type.name).decide(snapshot(all)).order
            #expect(order.allSatisfy { $0.kind != .disconnectScene }, "\(type.name)")
        }
    }
}
