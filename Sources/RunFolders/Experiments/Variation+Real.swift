import Experiments
import Scenario

extension Variation {
    /// Whether a scenario takes a number between two whole ones for a setting that varies between whole ones.
    package func isReal(in scenario: String, _ sets: [String]) -> Bool {
        guard let trial = trialOfReal else { return false }
        return (try? ScenarioLoader.load(path: scenario, overrides: Overrides(sets: sets + [trial])).get()) != nil
    }
}
