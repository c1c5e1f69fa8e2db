import Scenario

/// A reader of input from outside, with the claims that hold of whatever it reads.
///
/// The fuzzer (`Scripts/fuzz`) feeds it bytes, as long as one likes. The ordinary tests replay its corpus.
package struct Subject: Sendable {
    /// Its name, and the folder of its corpus.
    package let name: String
    /// The input in words.
    package let input: String
    /// The most bytes that the fuzzer gives it.
    package let longest: Int
    /// Words of the format, from which the fuzzer makes inputs.
    package let words: [String]
    /// Reads the bytes; true if they were accepted. Throws the claim that does not hold.
    package let read: @Sendable ([UInt8]) throws(Finding) -> Bool

    /// Every reader, in the order in which the fuzzers run.
    package static let all = [
        Subject.scenario, .policy, .jetsam, .kernel, .trace, .usage, .folder, .world,
    ]

    /// A reader whose only fault is planted. The fuzzer must find it.
    package static let canary = Subject(
        name: "canary", input: "bytes that begin with a word", longest: 64, words: ["loa", "ded"]
    ) { bytes throws(Finding) in
        // Each byte is a step of its own, which the fuzzer sees.
        guard bytes.count >= 6 else { return false }
        guard bytes[0] == UInt8(ascii: "l") else { return false }
        guard bytes[1] == UInt8(ascii: "o") else { return false }
        guard bytes[2] == UInt8(ascii: "a") else { return false }
        guard bytes[3] == UInt8(ascii: "d") else { return false }
        guard bytes[4] == UInt8(ascii: "e") else { return false }
        guard bytes[5] == UInt8(ascii: "d") else { return false }
        throw Finding("a fault was planted here")
    }

    /// The subject of this name, the canary among them.
    package init?(named name: String) {
        guard let found = (Subject.all + [Subject.canary]).first(where: { $0.name == name }) else { return nil }
        self = found
    }

    init(
        name: String, input: String, longest: Int = 4_096, words: [String] = [],
        read: @escaping @Sendable ([UInt8]) throws(Finding) -> Bool
    ) {
        (self.name, self.input, self.longest, self.words, self.read) = (name, input, longest, words, read)
    }
}

/// A claim that does not hold of an input.
package struct Finding: Error, CustomStringConvertible {
    package let description: String

    init(_ claim: String) { description = claim }
}
