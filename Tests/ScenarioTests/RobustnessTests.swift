import Foundation
import Quantities
import Scenario
import Simulation
import Testing

@Suite("whatever the bytes are")
struct RobustnessTests {
    private static func expectVerdict(_ bytes: [UInt8], _ what: String) {
        switch ScenarioLoader.load(bytes: bytes, file: "fuzz.yaml") {
        case .success(let plan):
            // An accepted scenario can be written and read again.
            let result = ScenarioLoader.load(text: EffectiveScenario.yaml(of: plan), file: "again.yaml")
            #expect(result == .success(plan), "\(what)")
        case .failure(.unreadable), .failure(.lacking): Issue.record("\(what): no file was read")
        case .failure(.invalid(let diagnostics)):
            #expect(!diagnostics.isEmpty, "\(what)")
            for diagnostic in diagnostics {
                guard case .file("fuzz.yaml", let line, let column) = diagnostic.location else {
                    Issue.record("\(what): \(diagnostic)")
                    continue
                }
                #expect(line > 0 && column > 0 && !diagnostic.message.isEmpty, "\(what)")
            }
        }
    }

    @Test("five hundred damaged scenarios give a plan or diagnostics with positions")
    func mutations() {
        let original = Array(Samples.commute.utf8)
        for seed in 0..<500 as Range<UInt64> {
            var random = SeededGenerator(seed: seed, stream: "fuzz")
            var bytes = original
            for _ in 0..<random.number(in: 1...4) { Self.damage(&bytes, &random) }
            Self.expectVerdict(bytes, "seed \(seed)")
        }
    }

    private static func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let index = random.number(in: 0...bytes.count - 1)
        let signs = Array("[]{}:,-#&*!|>'\"%@`?~\n\t 0\\".utf8)
        switch random.number(in: 0...6) {
        case 0: bytes[index] ^= UInt8(1 << random.number(in: 0...7))
        case 1: bytes.removeSubrange(index...)
        case 2: bytes[index] = UInt8(random.number(in: 128...255))
        case 3: bytes.insert(signs[random.number(in: 0...signs.count - 1)], at: index)
        case 4: bytes[index] = signs[random.number(in: 0...signs.count - 1)]
        case 5: bytes.remove(at: index)
        default:
            let end = min(bytes.count, index + random.number(in: 1...40))
            bytes.insert(contentsOf: bytes[index..<end], at: random.number(in: 0...bytes.count - 1))
        }
    }

    @Test(
        "towers of brackets and dashes do not exhaust the stack",
        arguments: ["[", "{", "{a: ", "- ", "? ", "[[{", "a:\n ", "&a [", "!!x [", "|\n", "\"", "---\n", "- ? "])
    func towers(piece: String) {
        for count in [500, 990, 1_100, 50_000] {
            Self.expectVerdict(Array(String(repeating: piece, count: count).utf8), "\(count) times \(piece)")
        }
    }

    @Test("a byte order mark and carriage returns do no harm")
    func marks() throws {
        let plan = try Samples.load(Samples.minimal).get()
        #expect(try Samples.load("\u{feff}" + Samples.minimal).get() == plan)
        #expect(try Samples.load(Samples.minimal.replacing("\n", with: "\r\n")).get() == plan)
    }

    @Test("the largest values that a scenario may say do not overflow")
    func extremes() throws {
        let sets = [
            "device.ceiling=512MiB", "duration=1000d", "apps.only.memory.growth.rate=64GiB/s",
            "apps.only.memory.growth.up_to=4096GiB", "apps.only.costs.process=1000d",
        ]
        let overrides = Overrides(sets: sets, scale: .percent(6_400))
        let plan = try Samples.load(Samples.minimal, overrides).get()
        let growth = plan.apps[0].memory.growth
        #expect(growth.rate.bytes(in: plan.duration) > .zero)
        #expect(plan.device.fillRate.time(for: plan.device.ceiling) > .zero)
    }
}
