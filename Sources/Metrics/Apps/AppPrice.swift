import Quantities

extension AppMetric {
    /// What other apps paid for this app: their processes that the policy ended for its sake. A process is ended for
    /// the sake of the app whose allocation found no room or, if there is none, of the app in front.
    static let paid: [AppMetric] = [
        count("others_ended", "Processes of other apps that the policy ended for its sake: the next three together") {
            $0.paid.count
        },
        count("others_ended_allocation", "Of these, ended because an allocation of this app had found no room") {
            $0.paid(for: .allocation)
        },
        count("others_ended_launch", "Of these, ended under pressure or for a limit while the user was launching it") {
            $0.paid(for: .launch)
        },
        count("others_ended_front", "Of these, ended under pressure or for a limit while it was in front, launched") {
            $0.paid(for: .front)
        },
        count("others_ended_felt", "Of all these, those in the foreground or wanted again soon after") {
            $0.paid.count(where: \.isFelt)
        },
        bytes("others_ended_bytes", "The memory that all these held when they ended") {
            $0.paid.reduce(ByteCount.zero) { $0 + $1.footprint }
        },
    ]
}

extension AppFacts {
    fileprivate func paid(for need: RunTally.Need) -> Int { paid.count { $0.beneficiary?.need == need } }
}
