extension SummaryMetric {
    /// What the apps did with their memory.
    static let use: [SummaryMetric] = [
        SummaryMetric("bytes_rewritten", .integer, "Bytes of live objects that were written again in use") {
            .bytes($0.bytesRewritten)
        },
        SummaryMetric("bytes_read", .integer, "Bytes of live objects that were read in use") { .bytes($0.bytesRead) },
    ]
}
