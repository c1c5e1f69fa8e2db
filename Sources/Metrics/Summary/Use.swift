import Quantities

extension SummaryMetric {
    /// What the apps did with their memory.
    static let use: [SummaryMetric] = [
        SummaryMetric(
            "bytes_rewritten", .integer, unit: .bytes, "Bytes of live objects that were written again in use",
            better: .neither
        ) {
            .bytes($0.use.rewritten)
        },
        SummaryMetric(
            "bytes_read", .integer, unit: .bytes, "Bytes of live objects that were read in use", better: .neither
        ) {
            .bytes($0.use.read)
        },
        share("rounding_ratio", "The share of the size classes that apps got but did not ask for", optional: true) {
            ($0.sampled.usable - $0.sampled.requested, $0.sampled.usable)
        },
        share("fragmentation_ratio", "The share of pages in use without objects (jemalloc's slabs)", optional: true) {
            ($0.sampled.active - $0.sampled.usable, $0.sampled.active)
        },
        share("dirty_ratio", "The share of the footprints that is unused pages not given back", optional: true) {
            ($0.sampled.dirty, $0.sampled.active + $0.sampled.dirty)
        },
    ]

    /// A mean over all processes and samples; absent without any.
    private static func share(
        _ name: String, _ meaning: String, optional: Bool,
        _ parts: @escaping @Sendable (RunTally) -> (ByteCount, ByteCount)
    ) -> SummaryMetric {
        SummaryMetric(name, .number, unit: .share, meaning, better: .neither, optional: optional) { tally in
            let (part, whole) = parts(tally)
            return whole > .zero ? .ratio(part.share(of: whole)) : .absent
        }
    }
}
