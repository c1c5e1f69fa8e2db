import Plan
import Quantities

extension FileCacheSettings: Described {
    static let definition = Definition<FileCacheSettings>(
        base: FileCacheSettings(),
        fields: [
            Field(
                "read_rate", \.readRate, .unscaled(from: .slowest), drawn: .rates(.mebibytes(8), .gibibytes(4)),
                "How fast storage delivers pages that are not in memory. The default is a guess."),
            Field(
                "keep_free", \.keepFree, .quantity(to: .percent(90)), drawn: .shares(0, 60),
                "The system drops pages of files while less than this share of the RAM is free. The default is a "
                    + "guess."),
        ])
}
