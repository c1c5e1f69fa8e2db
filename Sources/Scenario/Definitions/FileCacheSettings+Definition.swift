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
                    + "guess. It has no effect with `device.kernel`."),
            Field(
                "system", \.system, .scaled(),
                "Pages of the system's own files, in memory when the run begins as far as there is room. They go like "
                    + "those of an app that used its files last before the run."),
            Field(
                "system_read_rate", \.systemReadRate, .unscaled(),
                omitted: { $0 == FileCacheSettings().systemReadRate }, drawn: .rates(.kibibytes(64), .mebibytes(64)),
                "How fast the system's own files come back while memory is free, in bytes of the device that is meant. "
                    + "Nobody waits for them. The default is a guess."),
        ])
}
