import Plan
import Quantities
import Reclaim

extension WiredPoint: Described {
    static let definition = Definition<WiredPoint>(
        base: WiredPoint(at: .zero, size: .zero),
        fields: [
            Field("at", \.at, .quantity(), required: true, "When, from the beginning of the run."),
            Field(
                "size", \.size, .scaled(), required: true,
                "How much is wired from then on beyond `reserved`, until the next entry says another size."),
        ])
}

extension Codec where Value == [WiredPoint] {
    /// What is wired over time, in order.
    static var wiredPoints: Codec {
        list(of: Codec<WiredPoint>.record, called: "instants with sizes").checked { points in
            guard let pair = zip(points, points.dropFirst()).first(where: { $0.at >= $1.at }) else { return nil }
            return "\(pair.1.at) comes after \(pair.0.at); each instant must be later than the one before"
        }
    }
}

extension Codec where Value == JetsamKernel {
    /// A release of XNU by its number.
    static var kernel: Codec {
        Codec<String>.choice("kernel", among: JetsamKernel.allCases.map(\.rawValue)).mapped(
            {
                guard let kernel = JetsamKernel(rawValue: $0) else { preconditionFailure("\($0) was checked before") }
                return kernel
            }, { $0.rawValue })
    }
}

extension FreezerSettings: Described {
    static let definition = Definition<FreezerSettings>(
        base: FreezerSettings(),
        fields: [
            Field(
                "slots", \.slots, .count(1...100), drawn: .numbers(1, 20),
                "How many processes may be frozen at once. The default is XNU's."),
            Field(
                "minimum", \.minimum, .scaled(), drawn: .sizes(.zero, .mebibytes(40)),
                "An app with a smaller footprint is left alone. The default is XNU's."),
            Field(
                "suspended_above", \.suspendedAbove, .count(0...1_000), drawn: .numbers(0, 6),
                "The freezer works while more suspended processes than this are not frozen. The default is XNU's."),
            Field(
                "refreeze_after", \.refreezeAfter, .count(1...100), drawn: .numbers(1, 4),
                "With so many frozen processes that have run since, one of them is frozen anew. The default is XNU's."),
            Field(
                "demotions", \.demotions, .count(0...100), drawn: .numbers(0, 4),
                "How many frozen processes lose their place in band 75 when a day is over. The default is XNU's."),
            Field(
                "below", \.below, .quantity(to: .one), drawn: .shares(20, 100),
                "The freezer works while less than this share of the RAM is available. The default is XNU's."),
            Field(
                "budget", \.budget, Codec.scaled().orNone(), drawn: .sizes(.mebibytes(1), .gibibytes(1)),
                "How much may be written to flash within a day, in bytes of compressed contents. The default is a "
                    + "guess."),
            Field(
                "write_rate", \.writeRate, .scaled(from: .slowest), drawn: .rates(.mebibytes(8), .gibibytes(2)),
                "How fast flash takes compressed contents. The default is a guess."),
            Field(
                "read_rate", \.readRate, .scaled(from: .slowest), drawn: .rates(.mebibytes(8), .gibibytes(2)),
                "How fast flash gives contents back. The main thread that uses them waits. The default is a guess."),
            Field(
                "store", \.store, .scaled(), drawn: .sizes(.mebibytes(1), .gibibytes(1)),
                "The most contents on flash at once. The default is XNU's."),
        ])
}
