import Quantities

/// The document of `plimsoll explain --format json`. Times are seconds into the run; an absent value has no key.
package struct ExplainDocument: Encodable {
    private let format = 1
    private let scenario: String
    /// What the record of the run lacks or contradicts, one sentence each.
    package var warnings: [String] = []
    /// Why there is nothing to explain.
    package var note: String?
    /// The ends that the system did not cause.
    package var otherEnds: [End] = []
    /// The explained ends.
    package var explanations: [Explanation] = []

    /// An end that the system did not cause.
    package struct End: Encodable {
        private let app: String
        private let atS: Double
        private let reason: String
        /// The fault that the scenario asks for; nil if it was none.
        private let fault: String?

        package init(_ end: Explainer.OtherEnd) {
            (app, reason) = (end.app, end.reason)
            atS = Double((end.at - Instant.zero).microseconds) / 1_000_000
            fault = end.isFault ? "crash" : nil
        }
    }

    /// A document that explains nothing yet.
    ///
    /// - Parameter scenario: The path of the scenario.
    package init(scenario: String) { self.scenario = scenario }
}
