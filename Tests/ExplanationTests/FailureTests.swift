import Lifecycle
import Metrics
import Plan
import Quantities
import Scenario
import Simulation
import Testing

@testable import Explanation

@Suite("what explain says of faults that the scenario asks for")
struct FailureTests {
    private func explainer(_ policy: String, _ sets: [String], _ apps: String = "abcde") throws -> Explainer {
        let text = TightPhone.scenario(policy, ceiling: "110MiB", seconds: 120, taps: TightPhone.rounds(apps))
        return Explainer(plan: try loadedPlan(text, sets), scenario: "r/scenario.yaml")
    }

    /// All that the accounts of the ends say under `What failed`, without line breaks, and all that they say.
    private func failures(_ explainer: Explainer) throws -> (failed: [String], all: [String]) {
        let accounts = try explainer.terminations().map { explainer.account(of: $0) }
        return (
            accounts.flatMap { $0.cause.filter { $0.label == "What failed" }.map(\.sentence) },
            accounts.flatMap { $0.cause.map(\.sentence) + $0.others.map(\.sentence) }
        )
    }

    /// The same key for all apps.
    private func all(_ key: String) -> [String] { ["a", "b", "c", "d", "e"].map { "apps.\($0).\(key)" } }

    @Test("without faults there is nothing under what failed")
    func none() throws {
        let (failed, all) = try failures(explainer("earlyoom", []))
        #expect(failed.isEmpty && !all.isEmpty)
    }

    @Test("a process that reported less than it held is named, also where another one was ended for it")
    func reports() throws {
        let (failed, all) = try failures(explainer("largest-first", ["apps.a.reports=10%"]))
        let named = failed.filter { $0.contains("a reported 10% of its memory, so the decision saw ") }
        #expect(!named.isEmpty, "\(all)")
        #expect(all.contains { $0.hasPrefix("a, whose turn was later: ") && $0.contains(" reports ") }, "\(all)")
        // What its own end says it held is the truth.
        let own = try explainer("none", ["apps.a.reports=10%", "apps.a.limits={active: 24MiB, fatal: true}"])
        let end = try #require(try own.terminations().first { $0.app == "a" })
        #expect(own.account(of: end).held > .mebibytes(23))
    }

    @Test("a victim that refused to die is named where another process ended before its memory was back")
    func slowExit() throws {
        let (failed, every) = try failures(explainer("earlyoom", all("slow_exit=8s")))
        let what = [", which was ended ", " refused to die and still held "]
        #expect(failed.contains { sentence in what.allSatisfy(sentence.contains) }, "\(every)")
    }

    @Test("the crash of the process before is named, and crashes are told apart from the user's ends")
    func crash() throws {
        var named = 0
        for seed in 1...8 {
            let sets = ["seed=\(seed)", "device.ceiling=98MiB", "apps.c.crashes_after=15s"]
            let explainer = try explainer("largest-first", sets)
            let ends = try explainer.history().otherEnds
            let words = "abnormal, crashed by itself as the scenario has it (crashes_after)"
            #expect(ends.allSatisfy { $0.app == "c" && $0.isFault && $0.words == words })
            let what = "its process before this one had crashed by itself "
            named += try failures(explainer).failed.count { $0.contains(what) }
        }
        #expect(named > 0)
    }

    @Test("a crash that the user's list asks for is no fault")
    func order() throws {
        let text = TightPhone.scenario("none", ceiling: "400MiB", seconds: 30, taps: [(at: 0, app: "a")])
        let plan = try loadedPlan(text + "  - { at: 5s, crash: a }\n")
        let ends = try Explainer(plan: plan, scenario: "r/scenario.yaml").history().otherEnds
        #expect(ends.map(\.words) == ["abnormal"] && ends.allSatisfy { !$0.isFault })
    }

    @Test("an end by the watchdog says for how long the app did not answer")
    func hang() throws {
        let sets = ["apps.a.hangs_after=2s", "apps.a.hangs_for=40s", "device.ceiling=400MiB"]
        let (failed, every) = try failures(explainer("none", sets))
        #expect(failed.contains { $0.contains("its main thread had not answered for ") }, "\(every)")
    }
}
