import Foundation
import Quantities
import Scenario
import Simulation
import Testing
import Workload

@testable import Interchange

@Suite("allocation traces as an app's workload")
struct TraceReplayTests {
    private func play(_ trace: String, _ text: String = TraceFixture.byHand) throws -> TraceFixture.Output {
        let file = try TraceFixture.write(text)
        defer { TraceFixture.remove(file) }
        return try TraceFixture.play(try TraceFixture.load(TraceFixture.scenario(trace), beside: file))
    }

    @Test("what is live at the end is live in the process, to the byte", arguments: ["jemalloc", "accounting"])
    func exact(backend: String) throws {
        for seed in 0..<5 as Range<UInt64> {
            let file = try TraceFixture.write(TraceFixture.random(seed: seed, count: 20_000))
            defer { TraceFixture.remove(file) }
            let survey = try TraceFiles.survey(file.path())
            var plan = try TraceFixture.load(TraceFixture.scenario("{ file: trace.txt, over: 10s }"), beside: file)
            plan.backend = backend == "jemalloc" ? .jemalloc : .accounting
            let last = try #require(try TraceFixture.play(plan).apps.last)
            #expect(last["requested_bytes"] == "\(survey.requested.bytes)", "seed \(seed)")
            #expect(last["objects"] == "\(survey.objects)", "seed \(seed)")
        }
    }

    @Test("the peaks of the replay are the survey's")
    func peaks() throws {
        #expect(
            try play("{ file: trace.txt }").events("trace").map(\.reason) == [
                "11 operations; at most 5500 B requested in 4 objects; the process holds 5300 B in 3"
            ])
    }

    @Test("the pace decides when the trace is over")
    func pace() throws {
        let slow = try #require(try play("{ file: trace.txt, pace: 1/s }").events("trace").first)
        let stretched = try #require(try play("{ file: trace.txt, over: 5s }").events("trace").first)
        let fast = try #require(try play("{ file: trace.txt, pace: 1000/s }").events("trace").first)
        let times = try [slow, stretched, fast].map { try #require(Double($0.time)) }
        #expect(times[0] - times[2] > 10.5 && times[0] - times[2] < 11.2)
        #expect(times[1] - times[2] > 4.7 && times[1] - times[2] < 5.2)
    }

    @Test("copies multiply the objects, a fraction thins them out")
    func copies() throws {
        #expect(try play("{ file: trace.txt, copies: 3 }").apps.last?["requested_bytes"] == "15900")
        // Three of the five objects are kept, those of lines 2, 4 and 8; only the last is live at the end.
        #expect(try play("{ file: trace.txt, copies: 0.6 }").apps.last?["objects"] == "1")
    }

    @Test("a loop begins again with nothing, a hold stays, an exit ends the app")
    func endings() throws {
        let loop = try play("{ file: trace.txt, pace: 11/s, ends: loop }")
        #expect(loop.events("trace").isEmpty)
        #expect(Set(loop.apps.map { $0["requested_bytes"] }).count > 2)
        #expect(loop.apps.suffix(10).contains { $0["requested_bytes"] == "100" })
        let hold = try play("{ file: trace.txt, ends: hold }")
        #expect(hold.apps.suffix(10).allSatisfy { $0["requested_bytes"] == "5300" })
        let exit = try play("{ file: trace.txt, ends: exit }")
        #expect(exit.events("exit").map(\.detail) == ["normalApp"])
        #expect(exit.tally.terminations.isEmpty)
    }

    @Test("it ends at the chosen line")
    func lastLine() throws {
        #expect(try play("{ file: trace.txt, last_line: 4 }").apps.last?["requested_bytes"] == "450")
    }

    @Test("a trace that finds no room waits, and ends by the rules; the run goes on")
    func ceiling() throws {
        let text = (1...400).map { "1: malloc 0x\(String($0, radix: 16)) 100000" }.joined(separator: "\n")
        let file = try TraceFixture.write(text)
        defer { TraceFixture.remove(file) }
        let scenario = TraceFixture.scenario("{ file: trace.txt }", device: "{ ceiling: 16MiB }")
        let output = try TraceFixture.play(try TraceFixture.load(scenario, beside: file))
        #expect(output.events("exit").map(\.detail) == ["memoryPressure"])
        #expect(output.tally.stalls >= 1)
    }

    @Test("a fatal limit ends the app on the operation that crosses it")
    func limit() throws {
        let text = (1...400).map { "1: malloc 0x\(String($0, radix: 16)) 100000" }.joined(separator: "\n")
        let file = try TraceFixture.write(text)
        defer { TraceFixture.remove(file) }
        let scenario = TraceFixture.scenario("{ file: trace.txt }", more: "limits: { active: 8MiB }")
        let output = try TraceFixture.play(try TraceFixture.load(scenario, beside: file))
        let exit = try #require(output.events("exit").first)
        #expect(exit.detail == "memoryResourceLimit")
        #expect(exit.reason.contains("8MiB"))
    }

    @Test("a trace crosses the same limit at the same operation at every scale", arguments: [25, 400] as [Int64])
    func scale(percent: Int64) throws {
        let text = (1...400).map { "1: malloc 0x\(String($0, radix: 16)) 100000" }.joined(separator: "\n")
        let file = try TraceFixture.write(text)
        defer { TraceFixture.remove(file) }
        let scenario = TraceFixture.scenario("{ file: trace.txt, pace: 100/s }", more: "limits: { active: 8MiB }")
        let plan = try TraceFixture.load(scenario, beside: file)
        let whole = try #require(TraceFixture.play(plan).events("exit").first)
        let model = try #require(TraceFixture.play(plan.scaled(by: .percent(percent))).events("exit").first)
        #expect(model.detail == "memoryResourceLimit" && model.time == whole.time)
        #expect(model.reason.contains("\(ByteCount.mebibytes(8) * .percent(percent))"))
    }

    @Test("an imported scenario runs, and says what the trace does")
    func imported() throws {
        let file = try TraceFixture.write(TraceFixture.random(seed: 9, count: 5_000))
        defer { TraceFixture.remove(file) }
        let trace = try MemoryReplayImport(path: file.path())
        #expect(trace.report.contains("lines                  5000\n"))
        let folder = file.deletingLastPathComponent().path()
        let plan = try TraceFixture.load(trace.scenario(in: folder), beside: file)
        #expect(plan.apps[0].memory.trace?.file == file.path())
        #expect(try TraceFixture.play(plan).events("trace").count == 1)
    }

    @Test("a pace and a time together, or neither, are refused")
    func contradictions() {
        for trace in ["{ file: t, pace: 5/s, over: 5s }", "{ file: t, pace: none }"] {
            let result = ScenarioLoader.load(text: TraceFixture.scenario(trace), file: "s.yaml")
            guard case .failure(.invalid(let faults)) = result else {
                Issue.record("\(trace) was accepted")
                return
            }
            #expect(faults.count == 1)
        }
    }
}
