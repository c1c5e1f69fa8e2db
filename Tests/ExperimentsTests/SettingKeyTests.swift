import Testing

@testable import Experiments

@Suite("which settings a key takes in")
struct SettingKeyTests {
    @Test(
        "a key covers itself and what is below it; a policy's name is the policy",
        arguments: [
            ("device", "device.cores", true), ("device.cores", "device.cores", true),
            ("device.core", "device.cores", false), ("device.cores", "device", false), ("policy.name", "policy", true),
            ("policy.name", "policy.label", true),
            ("policy.label", "policy.name", false), ("apps.0", "apps.a.memory", false),
        ])
    func covers(own: String, other: String, covers: Bool) {
        #expect(SettingKey(own).covers(SettingKey(other)) == covers)
    }

    @Test(
        "a number and a name may be the same element, in any list; what differs behind them is not the same",
        arguments: [
            ("apps.0.memory.base", "apps.a.memory.base", true), ("apps.a.memory", "apps.0.memory.base", true),
            ("apps.0", "apps.a.memory", true), ("apps.0.memory", "apps.org.example.a.memory.base", true),
            ("apps.org.example.a.memory", "apps.0.memory.base", true), ("apps.a.x.0.y", "apps.0.x.b.y", true),
            ("policy.rules.0.take", "policy.rules.make-room.take", true),
            ("apps.0.memory.base", "apps.a.memory", false),
            ("apps.0.memory.base", "apps.a.memory.cache", false), ("apps.0.memory", "apps.1.memory", false),
            ("apps.a.memory", "apps.b.memory", false), ("apps.0.memory", "user.a.memory", false),
        ])
    func mayCover(own: String, other: String, mayCover: Bool) {
        #expect(SettingKey(own).mayCover(SettingKey(other)) == mayCover)
    }

    @Test("long keys are compared in no time")
    func longKeys() {
        let numbers = SettingKey(String(repeating: "0.", count: 30) + "x")
        #expect(!numbers.mayCover(SettingKey(String(repeating: "a.", count: 60) + "y")))
        #expect(numbers.mayCover(SettingKey(String(repeating: "a.", count: 60) + "x")))
    }
}
