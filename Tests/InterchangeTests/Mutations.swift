import Quantities
import Scenario
import Testing

/// Broken inputs: truncated, or with bytes changed, removed or duplicated.
enum Mutations {
    static func mutated(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        if random.chance(.percent(40)) {
            bytes.removeLast(random.number(in: 0...bytes.count))
        }
        for _ in 0..<random.number(in: 0...4) where !bytes.isEmpty {
            let at = random.number(in: 0...bytes.count - 1)
            let end = min(bytes.count, at + random.number(in: 1...20))
            switch random.number(in: 0...4) {
            case 0: bytes[at] = UInt8(random.number(in: 0...255))
            case 1: bytes.removeSubrange(at..<end)
            case 2: bytes.insert(contentsOf: bytes[at..<end], at: at)
            case 3: bytes.insert(contentsOf: "0123456789\"\\,:{}[]-\t\n".utf8.few(drawnBy: &random), at: at)
            default:
                if let digit = bytes[at...].firstIndex(where: { (0x30...0x39).contains($0) }) {
                    bytes.insert(contentsOf: repeatElement(0x39, count: random.number(in: 1...20)), at: digit)
                }
            }
        }
        return bytes
    }

    /// Reads broken inputs. An accepted input must give a valid scenario, and a refusal must be one line.
    static func tally(
        of bytes: [UInt8], count: Int, _ random: inout SeededGenerator,
        _ scenario: ([UInt8]) throws(ScenarioFault) -> String
    ) throws -> (read: Int, refused: Int) {
        var (read, refused) = (0, 0)
        for _ in 0..<count {
            let broken = mutated(bytes, &random)
            do {
                let text = try scenario(broken)
                read += 1
                guard case .failure(let fault) = ScenarioLoader.load(text: text, file: "s.yaml") else { continue }
                Issue.record("\(fault)\n\(String(decoding: broken, as: UTF8.self))")
            } catch {
                refused += 1
                #expect(error.description.contains(": error: ") && !error.description.contains("\n"))
            }
        }
        return (read, refused)
    }
}

extension Sequence {
    /// A few of the elements, in random order.
    fileprivate func few(drawnBy random: inout SeededGenerator) -> [Element] {
        var elements = Array(self)
        for index in elements.indices { elements.swapAt(index, random.number(in: 0...elements.count - 1)) }
        return Array(elements.prefix(random.number(in: 1...3)))
    }
}
