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

        /// - Parameter atS: When, in seconds into the run.
        package init(app: String, atS: Double, reason: String) {
            (self.app, self.atS, self.reason) = (app, atS, reason)
        }
    }

    /// A document that explains nothing yet.
    ///
    /// - Parameter scenario: The path of the scenario.
    package init(scenario: String) { self.scenario = scenario }
}
