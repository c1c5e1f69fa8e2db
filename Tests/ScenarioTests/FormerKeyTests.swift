import Scenario
import Testing

@Suite("former names of keys")
struct FormerKeyTests {
    private func loaded(_ key: String) throws -> (remarks: [String], yaml: String) {
        let text = """
            plimsoll: 1
            name: a
            duration: 1min
            device: { ceiling: 512MiB }
            apps: [ { name: a, background: { \(key): true } } ]
            """
        let plan = try ScenarioLoader.load(text: text, file: "t.yaml").get()
        return (plan.remarks, EffectiveScenario.yaml(of: plan))
    }

    @Test("a former name is read like the present one, with a warning, and never written")
    func former() throws {
        let (old, present) = (try loaded("holds_protected_file"), try loaded("holds_file_lock"))
        #expect(old.yaml == present.yaml)
        #expect(old.yaml.contains("holds_file_lock: true") && !old.yaml.contains("holds_protected_file"))
        #expect(present.remarks.isEmpty)
        let sentence = "apps.a.background.holds_protected_file: this key is now called 'holds_file_lock'"
        #expect(
            old.remarks.count == 1 && old.remarks.allSatisfy { $0.hasSuffix("warning: \(sentence)") }, "\(old.remarks)")
    }
}
