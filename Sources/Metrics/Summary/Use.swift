import Quantities

extension SummaryMetric {
    /// What the apps did with their memory.
    static let use: [SummaryMetric] = [
        SummaryMetric(
            "bytes_rewritten", .integer, "Bytes of live objects that were written again in use", better: .neither
        ) {
            .bytes($0.bytesRewritten)
        },
        SummaryMetric("bytes_read", .integer, "Bytes of live objects that were read in use", better: .neither) {
            .bytes($0.bytesRead)
        },
        share("rounding_ratio", "Of the size classes that apps got: what they did not ask for", optional: true) {
            ($0.sampledUsable - $0.sampledRequested, $0.sampledUsable)
        },
        share("fragmentation_ratio", "Of the pages in use: what holds no object (jemalloc's slabs)", optional: true) {
            ($0.sampledActive - $0.sampledUsable, $0.sampledActive)
        },
        share("dirty_ratio", "Of the footprints: pages that are unused but not given back", optional: true) {
            ($0.sampledDirty, $0.sampledActive + $0.sampledDirty)
        },
    ]

    /// A mean over all processes and samples; absent when there was none.
    private static func share(
        _ name: String, _ meaning: String, optional: Bool,
        _ parts: @escaping @Sendable (RunTally) -> (ByteCount, ByteCount)
    ) -> SummaryMetric {
        SummaryMetric(name, .number, meaning, better: .neither, optional: optional) { tally in
            let (part, whole) = parts(tally)
            return whole > .zero ? .ratio(part.share(of: whole)) : .absent
        }
    }
}
