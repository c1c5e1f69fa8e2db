import Lifecycle
import Testing

/// The full table of a machine: a row per state, a column per event, and `-` for an illegal pair.
private func table<State: RawRepresentable<String>, Event: RawRepresentable<String>>(
    _ states: [State], _ events: [Event], _ next: (State, Event) -> State?
) -> [String] {
    states.flatMap { state in
        events.map { "\(state.rawValue) \($0.rawValue) \(next(state, $0)?.rawValue ?? "-")" }
    }
}

@Suite("the machines, exhausted")
struct MachineTableTests {
    private static let legalProcess = [
        "notRunning launchToForeground inactive", "notRunning launchToBackground background",
        "inactive activate active", "inactive enterBackground background", "inactive terminate notRunning",
        "active resignActive inactive", "active terminate notRunning",
        "background enterForeground inactive", "background suspend suspended", "background terminate notRunning",
        "suspended resume background", "suspended terminate notRunning",
        "notRunning prewarm prewarmed", "prewarmed launchToForeground inactive",
        "prewarmed launchToBackground background", "prewarmed terminate notRunning",
    ]

    private static let legalScene = [
        "unattached connectToForeground foregroundInactive", "unattached connectToBackground background",
        "foregroundInactive activate foregroundActive", "foregroundInactive enterBackground background",
        "foregroundInactive disconnect unattached", "foregroundActive resignActive foregroundInactive",
        "background enterForeground foregroundInactive", "background suspend suspended",
        "background disconnect unattached",
        "suspended resume background", "suspended disconnect unattached",
    ]

    @Test("every pair of process phase and event is legal exactly where UIKit says so")
    func processTable() {
        let rows = table(ProcessPhase.allCases, ProcessEvent.allCases) { try? ProcessMachine.next($0, $1) }
        #expect(rows.count == ProcessPhase.allCases.count * ProcessEvent.allCases.count)
        #expect(Set(rows.filter { !$0.hasSuffix(" -") }) == Set(Self.legalProcess))
    }

    @Test("every pair of scene phase and event is legal exactly where UIKit says so")
    func sceneTable() {
        let rows = table(ScenePhase.allCases, SceneEvent.allCases) { try? SceneMachine.next($0, $1) }
        #expect(rows.count == ScenePhase.allCases.count * SceneEvent.allCases.count)
        #expect(Set(rows.filter { !$0.hasSuffix(" -") }) == Set(Self.legalScene))
    }

    @Test("an illegal pair is refused with both names, and the state stays")
    func refusal() {
        var machine = ProcessMachine()
        #expect(throws: IllegalTransition(machine: "process", state: "notRunning", event: "suspend")) {
            try machine.apply(.suspend)
        }
        #expect(machine.phase == .notRunning)
        let refusal = IllegalTransition(machine: "scene", state: "unattached", event: "activate")
        #expect(refusal.description == "a scene that is unattached cannot activate")
    }

    @Test("a transition changes the state exactly once, and tells at most what belongs to it")
    func signals() {
        for event in SceneEvent.allCases {
            let signals = event.signals(isNewSession: true, keepsSession: true, LifecycleRules())
            #expect(signals.count { $0 == .change } == 1, "\(event)")
        }
        for event in ProcessEvent.allCases {
            for lifeCycle in AppLifeCycle.allCases {
                #expect(event.signals(in: lifeCycle).count { $0 == .change } == 1, "\(event) \(lifeCycle)")
            }
        }
    }

    @Test("scene-based apps get no app-level active and background callbacks, but the notifications post")
    func worlds() {
        for event in [ProcessEvent.activate, .resignActive, .enterBackground, .enterForeground] {
            let old = event.signals(in: .appBased)
            let new = event.signals(in: .sceneBased)
            #expect(new == old.filter { if case .callback = $0 { false } else { true } })
            #expect(old.count == new.count + 1)
        }
    }

    @Test("a reconnecting session asks for no configuration, a closed one for no restoration activity")
    func sessions() {
        let again = SceneEvent.connectToForeground.signals(isNewSession: false, keepsSession: true, LifecycleRules())
        #expect(!again.contains(.callback(.configurationForConnecting)))
        let closed = SceneEvent.disconnect.signals(isNewSession: false, keepsSession: false, LifecycleRules())
        #expect(closed == [.callback(.sceneDidDisconnect), .notification(.sceneDidDisconnect), .change])
    }

    @Test("a prewarmed process hears of nothing: it rests in memory and waits for its launch")
    func prewarmed() {
        for lifeCycle in AppLifeCycle.allCases { #expect(ProcessEvent.prewarm.signals(in: lifeCycle) == [.change]) }
        #expect(ProcessEvent.prewarm.deadline == nil)
        let phase = ProcessPhase.prewarmed
        #expect(!phase.runsCode && !phase.isForeground && phase.restsInMemory && phase.awaitsLaunch)
        for other in ProcessPhase.allCases {
            #expect(phase.event(towards: other) == nil && phase.firstEvent(towards: other) == nil)
            #expect(other.event(towards: phase) == nil && other.firstEvent(towards: phase) == nil)
        }
    }

    @Test("a process follows its scenes")
    func follows() {
        #expect(processPhase(followingFrom: [.suspended, .foregroundActive], hasReasonToRun: false) == .active)
        #expect(processPhase(followingFrom: [.background, .foregroundInactive], hasReasonToRun: false) == .inactive)
        #expect(processPhase(followingFrom: [.background, .suspended], hasReasonToRun: false) == .background)
        #expect(processPhase(followingFrom: [.suspended], hasReasonToRun: true) == .background)
        #expect(processPhase(followingFrom: [.suspended, .unattached], hasReasonToRun: false) == .suspended)
        #expect(processPhase(followingFrom: [], hasReasonToRun: false) == .suspended)
    }
}
