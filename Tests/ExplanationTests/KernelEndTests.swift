import Quantities
import Scenario
import Simulation
import Testing

@testable import Explanation

@Suite("an end by Linux's kernel, explained")
struct KernelEndTests {
    private static let text = """
        plimsoll: 1
        name: kernel
        duration: 8s
        backend: accounting
        device: { ceiling: 256MiB, reserved: 16MiB, fallback: kernel-oom }
        policy: none
        apps:
          - name: hog
            oom_score_adj: 0
            memory: { base: 20MiB, scene: 0B, leak: 40MiB/s, objects: { constant: 64KiB } }
          - { name: small, oom_score_adj: 1000, memory: { base: 8MiB, scene: 0B } }
        start: [ { process: small, state: suspended }, { process: hog, state: front } ]
        """

    @Test("the account names the kernel, not the policy, and an exemption is tried")
    func account() throws {
        let plan = try ScenarioLoader.load(text: Self.text, file: "k.yaml").get()
        let explainer = Explainer(plan: plan, scenario: "k.yaml")
        let termination = try #require(explainer.terminations(of: "small").first)
        #expect(termination.record == nil && termination.fact?.course.cause == EventCause.kernelName)
        let explanation = try explainer.explain(termination)
        #expect(explanation.account.author == .system)
        #expect(explanation.account.reason.hasPrefix("Linux's kernel ends what has most badness"))
        #expect(explanation.remedies.contains { $0.change.option.contains("apps.small.oom_score_adj=-1000") })
    }

    @Test("an end for the limit of a control group: a higher limit is tried, the device and the policy are not")
    func groupLimit() throws {
        let text =
            Self.text.replacing("leak: 40MiB/s", with: "leak: 4MiB/s")
            + "\ncontrol_groups: [{ name: pod, processes: [hog, small], memory_max: 40MiB, oom_group: true }]"
        let plan = try ScenarioLoader.load(text: text, file: "k.yaml").get()
        let explainer = Explainer(plan: plan, scenario: "k.yaml")
        let termination = try #require(explainer.terminations(of: "small").first)
        let explanation = try explainer.explain(termination)
        let options = explanation.remedies.map(\.change.option).joined(separator: " ")
        #expect(options.contains("control_groups.pod.memory_max="))
        #expect(!options.contains("device.ceiling") && !options.contains("policy."))
    }
}
