import Foundation
import Metrics
import Reclaim
import Testing
import Workload

@testable import plimsoll

@Suite("completions")
struct CompletionsTests {
    /// What bash is told about a word that goes on: no blank after it, and no backslash before its equals sign.
    private let open = "compopt -o nospace +o filenames"

    /// What bash offers for the last word, as for the tabulator at the end of the line.
    private func offered(_ words: [String], in folder: URL) throws -> [String] {
        let script = """
            PATH="${1%/*}:$PATH"; shift
            source <(plimsoll completions bash)
            compopt() { echo "compopt $*"; }
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
            spec=$(complete -p plimsoll); function=${spec##*-F }; function=${function%% *}
            "$function" plimsoll "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let result = try Program.run(["plimsoll"] + words, in: folder, shell: script)
        #expect(result.status == 0 && result.error.isEmpty, "\(words): \(result.error)")
        return result.out.split(separator: "\n").map(String.init).sorted()
    }

    /// A folder with scenarios and a run.
    private func within(_ body: (URL) throws -> Void) throws {
        try Experiments.within { folder in
            let files = FileManager.default
            for name in ["Scenarios/policies", "elsewhere/deep"] {
                try files.createDirectory(at: folder.appending(path: name), withIntermediateDirectories: true)
            }
            try Data("name: lru\n".utf8).write(to: folder.appending(path: "Scenarios/policies/mine.yaml"))
            try Data().write(to: folder.appending(path: "notes.txt"))
            for out in ["runs/tiny", "elsewhere/deep/other"] {
                let run = ["run", "tiny.yaml", "--quiet", "--summary-only", "--out", out]
                #expect(try Program.run(run, in: folder).status == 0)
            }
            try body(folder)
        }
    }

    @Test("bash completes commands and options")
    func commands() throws {
        try within { folder in
            let commands = try offered(["co"], in: folder)
            #expect(commands == ["compare", "completions"])
            #expect(try offered([""], in: folder).contains("tune"))
            #expect(try offered(["run", "--see"], in: folder) == ["--seed"])
            #expect(try offered(["run", "tiny.yaml", "--backend", ""], in: folder) == ["accounting", "jemalloc"])
        }
    }

    @Test("bash completes scenario files and folders of runs")
    func files() throws {
        try within { folder in
            for command in ["run", "validate", "doctor", "compare", "sweep", "tune"] {
                let found = try offered([command, ""], in: folder).filter { !$0.hasPrefix("-") }
                #expect(found.contains("tiny.yaml") && found.contains("Scenarios"), "\(command): \(found)")
                #expect(!found.contains("notes.txt"), "\(command)")
            }
            for command in ["explain", "plot", "report"] {
                let found = try offered([command, ""], in: folder).filter { !$0.hasPrefix("-") }
                #expect(found == ["elsewhere", "runs", "runs/tiny"], "\(command)")
                #expect(try offered([command, "elsewhere/deep/o"], in: folder) == ["elsewhere/deep/other"])
            }
        }
    }

    @Test("bash completes policies, metrics, and the apps of the run or scenario that is named")
    func names() throws {
        try within { folder in
            let policies = PolicyCatalogue.all.map { $0.name }
            let found = try offered(["run", "tiny.yaml", "--policy", ""], in: folder)
            #expect(Set(found) == Set(policies + ["Scenarios", "elsewhere", "runs", "tiny.yaml"]))
            #expect(try offered(["run", "tiny.yaml", "--policy", "jet"], in: folder) == ["jetsam", "jetsam-classic"])
            let file = ["run", "tiny.yaml", "--policy", "Scenarios/policies/m"]
            #expect(try offered(file, in: folder) == ["Scenarios/policies/mine.yaml"])
            let metrics = try offered(["compare", "tiny.yaml", "--metric", "terminations"], in: folder)
            #expect(metrics == SummaryMetrics.all.map(\.name).filter { $0.hasPrefix("terminations") }.sorted())
            #expect(try offered(["explain", "runs/tiny", "--app", ""], in: folder) == ["a", "b", "c"])
            #expect(try offered(["explain", "nowhere", "--app", ""], in: folder).isEmpty)
            #expect(try offered(["list", "devices", "ipad"], in: folder) == ["ipad-pro-16gb", "ipad-pro-6gb"])
            #expect(try offered(["list", "policies", "lm"], in: folder) == ["lmkd", "lmkd-minfree"])
            let archetypes = Archetype.all.map(\.name).sorted()
            #expect(try offered(["list", "apps", ""], in: folder).filter { !$0.hasPrefix("-") } == archetypes)
        }
    }

    @Test("bash completes the options of the Python part, and their values")
    func python() throws {
        try within { folder in
            #expect(try offered(["plot", "runs/tiny", "--fo"], in: folder) == ["--force", "--format"])
            #expect(try offered(["plot", "--format", "p"], in: folder) == ["png", "png,svg"])
            #expect(try offered(["report", "runs/tiny", "--e"], in: folder) == ["--explain"])
            #expect(try offered(["tune", "tiny.yaml", "--policy", "lmkd-"], in: folder) == ["lmkd-minfree"])
            #expect(try offered(["tune", "--backend", "a"], in: folder) == ["accounting"])
            let metrics = try offered(["tune", "tiny.yaml", "--minimize", "terminations"], in: folder)
            #expect(metrics == SummaryMetrics.all.map(\.name).filter { $0.hasPrefix("terminations") }.sorted())
        }
    }

    @Test("bash completes settings part by part, with the apps of the scenario and the parameters of the policy")
    func settings() throws {
        try within { folder in
            let run = ["run", "tiny.yaml", "--set"]
            #expect(try offered(run + ["device.cei"], in: folder) == [open, "device.ceiling="])
            #expect(try offered(run + ["de"], in: folder) == [open, "description=", "device."])
            let apps = try offered(run + ["apps."], in: folder)
            #expect(apps == ["apps.a.", "apps.b.", "apps.c.", open])
            #expect(try offered(run + ["apps.b.memory.ba"], in: folder).contains("apps.b.memory.base="))
            // The policy is the scenario's, unless the command line names another.
            let parameters = [open, "policy.parameters.only_when_critical="]
            #expect(try offered(run + ["policy.parameters."], in: folder) == parameters)
            let jetsam = ["run", "tiny.yaml", "--policy", "jetsam", "--set", "policy.parameters.ball"]
            #expect(try offered(jetsam, in: folder) == [open, "policy.parameters.ballast="])
            // `sweep` without a command of its own is `sweep run`.
            for sweep in [["sweep"], ["sweep", "run"]] {
                let vary = sweep + ["tiny.yaml", "--vary", "device.cor"]
                #expect(try offered(vary, in: folder) == [open, "device.cores."])
            }
            let first = try offered(["sweep", ""], in: folder)
            #expect(Set(["run", "merge", "tiny.yaml"]).isSubset(of: first), "\(first)")
        }
    }

    @Test("what may follow a setting ends with a dot or an equals sign")
    func parts() {
        let keys = ["seed", "device", "device.ceiling", "device.cores", "policy", "policy.name"]
        #expect(Candidates.nextParts(of: keys, after: "") == ["seed=", "device.", "policy."])
        #expect(Candidates.nextParts(of: keys, after: "device.c") == ["device.ceiling=", "device.cores="])
        #expect(Candidates.nextParts(of: keys, after: "x").isEmpty)
    }

    @Test("each shell's script leaves no blank after a word that goes on")
    func scripts() throws {
        try Experiments.within { folder in
            let signs = [("bash", open), ("zsh", "compadd -Q -S ''"), ("fish", "complete -c")]
            for (shell, sign) in signs {
                let script = try Program.run(["completions", shell], in: folder)
                #expect(script.status == 0 && script.out.contains(sign), "\(shell)")
            }
            #expect(try Program.run(["completions", "tcsh"], in: folder).status == 64)
        }
    }
}
