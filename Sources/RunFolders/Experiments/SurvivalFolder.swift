import Experiments
import Foundation
import Metrics
import Quantities
import Scenario
import Simulation
import Survival

/// The folder of `survive`: the question, the ledger of finished runs, and at the end the answer with its tables.
package struct SurvivalFolder {
    private let folder: ExperimentFolder
    private let ledger: Ledger
    private let plan: Plan
    private let question: Question

    private static let planFile = "plan.json"
    private static let answerFile = "answer.txt"
    private static let scenarioFile = "scenario.yaml"

    package var path: String { folder.path }

    /// All that determines the answer, as `plan.json`.
    private struct Plan: Codable {
        /// It rises when other runs are made for the same question: places in the ledger then have other meanings.
        var format = 3
        var program = plimsollVersion
        var app: String
        var seeds: [UInt64]
        var probabilityPpm: Int64
        var footprintsBytes: [Int]
        var devices: [String]
        var triesLargerDevices: Bool
        var triesChanges: Bool
        /// True, or absent.
        var triesGuesses: Bool?
        /// The fingerprints of the scenario with all its settings, of the same on the devices, and of its traces.
        var inputs: [String]

        init(_ question: Question) {
            (app, seeds, triesChanges) = (question.name, question.seeds, question.triesChanges)
            probabilityPpm = question.share.partsPerMillion
            footprintsBytes = question.footprints.map(\.bytes)
            devices = question.devices.map(\.name)
            triesLargerDevices = question.triesLargerDevices
            triesGuesses = question.triesGuesses ? true : nil
            let plans = [question.plan] + question.devices.map(\.plan)
            inputs =
                plans.map { "\(Fingerprint(of: EffectiveScenario.yaml(of: $0)))" }
                + question.plan.apps.compactMap(\.memory.trace).map { Fingerprint(ofFile: $0.file).description }
        }
    }

    /// - Parameters:
    ///   - path: Nil for a new folder below `runs`.
    ///   - resume: Whether to continue what was interrupted in the folder, if there is something.
    package init(_ question: Question, path: String?, resume: Bool) throws {
        (self.question, plan) = (question, Plan(question))
        let text = try JSONDocument.of(plan) + "\n"
        let settings = Study.mostSettings + (question.triesGuesses ? GuessedSurvival.mostSettings : 0)
        let cases = settings * question.seeds.count
        let mark = Fingerprint(of: text)
        let found = path.flatMap { FileManager.default.contents(atPath: "\($0)/\(SurvivalFolder.planFile)") }
        if resume, let path, let found {
            guard String(decoding: found, as: UTF8.self) == text else {
                throw Failure(
                    .invalidInput, "\(path) was begun with another question; resume it with its first command")
            }
            folder = ExperimentFolder(existing: path)
            let file = "\(path)/\(Ledger.file)"
            let exists = FileManager.default.fileExists(atPath: file)
            ledger = try BookedFolder.saying { () throws(LedgerFault) in
                exists
                    ? try Ledger(resuming: file, plan: mark, shard: .whole, cases: cases)
                    : try Ledger(creating: file, plan: mark, shard: .whole, cases: cases)
            }
            return
        }
        let advice = resume ? "it holds no question to resume; give another --out" : "--resume continues in it"
        let folder =
            try path.map { try ExperimentFolder(creating: $0, advice: advice) } ?? ExperimentFolder(free: "survive")
        do {
            try folder.directory.write(text, to: SurvivalFolder.planFile)
            ledger = try BookedFolder.saying { () throws(LedgerFault) in
                try Ledger(creating: "\(folder.path)/\(Ledger.file)", plan: mark, shard: .whole, cases: cases)
            }
        } catch {
            folder.withdraw([SurvivalFolder.planFile, Ledger.file])
            throw error
        }
        self.folder = folder
    }

    private func place(of request: RunRequest) -> Int { request.entry * question.seeds.count + request.seed }

    /// The results of an earlier attempt; nil for runs that it did not finish.
    package func finished(_ requests: [RunRequest]) throws -> [Fate?] {
        try requests.map { request in
            guard ledger.isFinished(place(of: request)) else { return nil }
            let row = try BookedFolder.saying { () throws(LedgerFault) in try ledger.row(place(of: request)) }
            guard let fate = JSONDocument.read(Fate.self, Data(row.utf8)) else {
                throw Failure(.invalidInput, "\(path)/\(Ledger.file) has a run that cannot be read; give another --out")
            }
            return fate
        }
    }

    /// Records finished runs.
    package func book(_ made: [(RunRequest, Fate)]) throws {
        let rows = try made.map { (place(of: $0), String(try JSONDocument.line($1).dropLast())) }
        try BookedFolder.saying { () throws(LedgerFault) in try ledger.append(rows) }
    }

    /// Writes the answer.
    ///
    /// - Parameter guessed: The runs of other values of guesses; nil if none were asked for.
    package func write(
        _ answer: Answer, _ guessed: GuessedSurvival?, footprint: ByteCount?, text: String, made: Int, jobs: Int,
        _ clock: ExperimentClock
    ) throws {
        let tables = SurvivalTables(answer, footprint: footprint)
        let schemas = SurvivalTables.all + (guessed == nil ? [] : [SurvivalTables.guesses])
        try folder.directory.write(
            Answer.wrapped(text).joined(separator: "\n") + "\n", to: SurvivalFolder.answerFile)
        try folder.directory.write(EffectiveScenario.yaml(of: question.plan), to: SurvivalFolder.scenarioFile)
        try folder.directory.write(
            try DataPackage.json(
                name: "survive", title: "Whether \(question.name) survives, by Plimsoll", tables: schemas),
            to: "datapackage.json")
        for (schema, write) in tables.writers { try folder.write(schema) { write($0) } }
        if let guessed { try folder.write(SurvivalTables.guesses) { guessed.write(to: $0) } }
        // The runs are made in this process, so their peak is its own.
        let peak = HostMachine.processMemory("VmHWM")?.bytes ?? 0
        let cost = CaseCrew.Cost(runs: made, cpuSeconds: HostMachine.cpuSeconds, peakKibibytes: peak >> 10)
        try folder.write(
            ExperimentManifest(
                plan: "\(Fingerprint(of: try JSONDocument.of(plan) + "\n"))", ending: .completed,
                planned: answer.runs + (guessed?.runs ?? 0), jobs: jobs, clock: clock, cost: cost,
                intervals:
                    "Wilson for shares, Newcombe's method 10 for gains, hypergeometric for where runs stop, log-log "
                    + "with the variance between runs for the survival curve; all 95 %"))
    }
}
