import Reclaim

extension ReplayOutcome {
    /// What became of the victims for which the report has one reason.
    public struct ReasonGrade: Encodable, Hashable, Sendable {
        /// A reason that the run has instead.
        public struct Other: Encodable, Hashable, Sendable {
            /// Jetsam's word, or the exit reason if jetsam did not end the process.
            public let reason: String
            /// How many victims ended for it; at least one.
            public let count: Int
        }

        /// The report's word.
        public let reason: String
        /// How many victims have it in the report; at least one.
        public let victims: Int
        /// How many of them ended in the run, for whatever reason.
        public let ended: Int
        /// How many of these ended for the report's reason; nil if none is graded.
        public let same: Int?
        /// For what else graded victims ended, in the order of the report's kills.
        public let others: [Other]

        fileprivate init(_ reason: String, _ members: [Victim]) {
            self.reason = reason
            victims = members.count
            ended = members.count { $0.end != nil }
            let isGraded = members.contains { !$0.isAssumed }
            same = isGraded ? members.count { $0.isSame == true } : nil
            var others: [Other] = []
            for found in members.filter({ $0.isSame == false }).compactMap({ $0.end?.reason }) {
                if let place = others.firstIndex(where: { $0.reason == found }) {
                    others[place] = Other(reason: found, count: others[place].count + 1)
                } else {
                    others.append(Other(reason: found, count: 1))
                }
            }
            self.others = others
        }
    }

    /// The victims reason by reason, in the order of the report's first kill for each.
    public var grades: [ReasonGrade] {
        var words: [String] = []
        for victim in victims where !words.contains(victim.reason) { words.append(victim.reason) }
        return words.map { word in ReasonGrade(word, victims.filter { $0.reason == word }) }
    }
}

extension KillCause {
    /// The causes that a report's word stands for; empty if it is none of jetsam's words, or of a cause that newer
    /// releases lack.
    ///
    /// Up to iOS 11, `vm-thrashing` was the word for the compressor's thrashing and for the aggressive mode.
    ///
    /// Source: xnu-3789.70.16, xnu-4570.71.2 and xnu-4903.270.47, bsd/kern/kern_memorystatus.c.
    static func causes(named word: String) -> [KillCause] {
        if let cause = KillCause(rawValue: word) { return [cause] }
        return word == "vm-thrashing" ? [.compressorThrashing, .processThrashing] : []
    }

    /// Whether a report's word means the reason for which a process ended in a run.
    static func word(_ word: String, standsFor reason: String) -> Bool {
        causes(named: word).contains { $0.rawValue == reason } || word == reason
    }
}
