import Metrics
import Plan
import Simulation
import Testing

@testable import Scenario

@Suite("claims about an app")
struct AppClaimTests {
    private func plan(_ list: String) throws -> RunPlan {
        let apps = "apps: [ { name: only }, { name: a.b c }, { name: survives } ]"
        let text = Samples.minimal.replacing("apps: [ { name: only } ]", with: apps) + "expect: [\(list)]\n"
        return try Samples.load(text).get()
    }

    @Test("a metric after the app's name and a dot; names may have dots and blanks of their own")
    func metrics() throws {
        let list = "only.terminations == 0, a.b c.launch_latency_p95_ms <= 1.5s, 'a.b c . peak_footprint_bytes < 3MiB'"
        let claims = try plan(list).expectations
        #expect(claims.map(\.app) == ["only", "a.b c", "a.b c"])
        #expect(claims.map(\.metric) == ["terminations", "launch_latency_p95_ms", "peak_footprint_bytes"])
        #expect(claims.map(\.value) == [0, 1500, Double(3 << 20)])
    }

    @Test("`survives` says that the system ended none of its processes")
    func survives() throws {
        let claims = try plan("only survives, a.b c survives, survives survives, terminations == 0").expectations
        #expect(claims.map(\.app) == ["only", "a.b c", "survives", nil])
        #expect(claims.prefix(3).allSatisfy { $0.metric == "survived" && $0.comparison == .equal && $0.value == 1 })
        #expect(claims[0].text == "only survives")
    }

    @Test("a metric of the whole run is none of an app, and the message lists the right ones")
    func kinds() {
        let yaml = Samples.minimal + "expect: [ only.decisions == 0 ]\n"
        let faults = Samples.faults(yaml)
        #expect(faults.count == 1 && faults[0].contains("expect.0: unknown metric of an app 'decisions'"))
        #expect(faults[0].contains("survived, terminations"), "\(faults)")
    }

    @Test("an app's claim in --set is checked, too")
    func option() {
        let faults = Samples.faults(Samples.minimal, Overrides(sets: ["expect=[onli survives]"]))
        #expect(faults == ["--set expect=[onli survives]: error: expect.0: unknown app 'onli'; did you mean 'only'?"])
    }
}
