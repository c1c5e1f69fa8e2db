import Foundation
import Testing

/// `plimsoll serve` makes the runs of `plimsoll case`, one after the other.
@Suite("serve")
struct ServeCommandTests {
    private struct Answer: Decodable, Equatable {
        let status: Int32
        let output: String
        let errors: String
    }

    private static func ask(_ questions: [[String]], in folder: URL) throws -> [Answer] {
        let lines = try questions.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) + "\n" }
        try Data(lines.joined().utf8).write(to: folder.appending(path: "questions"))
        let result = try Program.run(["serve"], in: folder, shell: #"exec "$@" < questions"#)
        #expect(result.status == 0, "\(result.error)")
        return try result.out.split(separator: "\n").map { try JSONDecoder().decode(Answer.self, from: Data($0.utf8)) }
    }

    @Test("each line is answered as a process of its own would, whatever runs before it")
    func answers() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let small = ["--backend", "accounting", "--set", "expect=[]", "--tell-waits"]
        let questions = [
            [Program.scenario("quickstart"), "--seed", "2"] + small,
            [Program.scenario("quickstart"), "--set", "policy=nobody"],
            ["/nowhere.yaml"],
            [Program.scenario("training/small-phone"), "--set", "policy={name: jetsam}"] + small,
            ["--seed", "x"],
            [Program.scenario("quickstart"), "--seed", "2"] + small,
        ]
        let answers = try Self.ask(questions, in: folder)
        #expect(answers.map(\.status) == [0, 65, 66, 0, 64, 0])
        #expect(answers.first == answers.last)
        for (question, answer) in zip(questions, answers) where answer.status != 64 {
            let alone = try Program.run(["case"] + question, in: folder)
            #expect(alone.status == answer.status)
            #expect(alone.out.trimmingCharacters(in: .newlines) == answer.output)
            #expect(alone.error.trimmingCharacters(in: .newlines) == answer.errors)
        }
        #expect(answers[4].errors.contains("--seed"))
    }

    @Test("a line that holds no words of a case ends it with status 64")
    func refuses() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try Program.run(["serve"], in: folder, shell: #"echo '{"a": 1}' | exec "$@""#)
        #expect(result.status == 64 && result.error.contains("array of JSON") && result.out.isEmpty)
    }

    @Test("what is lost has the prices that are asked for, or the usual ones")
    func prices() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = [
            Program.scenario("quickstart"), "--backend", "accounting", "--set", "expect=[]", "--tell-waits", "--policy",
        ]
        let tight = ["none", "--set", "device.ceiling=200MiB"]
        let waits = try Self.ask([run + ["unbounded"], run + tight], in: folder).map {
            String($0.output.split(separator: "\t").last ?? "")
        }
        try Data(waits[0].utf8).write(to: folder.appending(path: "waits"))
        let ends = try #require(Double(waits[1].prefix { $0 != "," }))
        #expect(ends > 0)
        let launches = Double(waits[1].split(separator: ";").count { $0.hasSuffix(",") })
        let against = run + tight + ["--lost-against", "waits", "--prices"]
        let answers = try Self.ask([",", "20s,", ",6s", "10s,5s", "x,"].map { against + [$0] }, in: folder)
        #expect(answers.map(\.status) == [0, 0, 0, 0, 64])
        let lost = answers.dropLast().compactMap { Double($0.output.split(separator: "\n").last ?? "") }
        #expect(lost.count == 4 && lost[0] == lost[3])
        #expect(abs(lost[1] - lost[0] - 10 * ends) < 1e-6 && abs(lost[2] - lost[0] - launches) < 1e-6, "\(lost)")
    }
}
