import Plan
import Quantities
import Scenario

// The two formats that people write.
extension Subject {
    /// The smallest scenario, over which a policy is read.
    private static let host = """
        plimsoll: 1
        name: fuzz
        duration: 1min
        device: { ceiling: 512MiB }
        apps: [ { name: a }, { name: b, like: big-game } ]

        """

    /// The keys and the named values of the format, each once.
    private static let vocabulary: [String] = {
        var seen: Set<String> = []
        return FormatKeys.all.compactMap { path in
            let word = path.split(separator: "=").last?.split(separator: ".").last.map(String.init) ?? ""
            let isPlain = !word.isEmpty && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            return isPlain && seen.insert(word).inserted ? word : nil
        }
    }()

    static let scenario = Subject(name: "scenario", input: "a scenario file", words: vocabulary) {
        bytes throws(Finding) in
        let file = "scenario.yaml"
        switch ScenarioLoader.load(bytes: bytes, file: file) {
        case .failure(let fault):
            try Claims.hold(of: fault, in: [file])
            return false
        case .success(let plan):
            try Claims.areTheSameAgain(plan)
            // A scale model of it is a plan, or is refused as an option.
            let halved = ScenarioLoader.load(bytes: bytes, file: file, overrides: Overrides(scale: .percent(50)))
            if case .failure(let fault) = halved { try Claims.hold(of: fault, in: []) }
            return true
        }
    }

    static let policy = Subject(name: "policy", input: "a policy file", words: vocabulary) { bytes throws(Finding) in
        let file = ScratchFile(bytes)
        let result = ScenarioLoader.load(
            text: Subject.host, file: "scenario.yaml", overrides: Overrides(policy: file.path))
        switch result {
        case .failure(let fault):
            try Claims.hold(of: fault, in: [file.path, "scenario.yaml"])
            return false
        case .success(let plan):
            try Claims.areTheSameAgain(plan)
            return true
        }
    }
}
