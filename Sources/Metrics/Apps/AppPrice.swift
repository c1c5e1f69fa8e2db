import Quantities

extension AppMetric {
    /// What other apps paid for this app: their processes that the policy ended for its sake (see
    /// `RunTally.Beneficiary`).
    static let paid: [AppMetric] = [
        count("others_ended", "Processes of other apps that the policy ended for its sake") { $0.paid.count },
        count("others_ended_allocation", "Of these, ended because an allocation of this app had found no room") {
            $0.paid.count { $0.beneficiary?.need == .allocation }
        },
        count("others_ended_launch", "Of these, ended under pressure while the user was launching it") {
            $0.paid(in: .launch)
        },
        count("others_ended_front", "Of these, ended under pressure while it was in front, launched") {
            $0.paid(in: .front)
        },
        count("others_ended_felt", "Of all these, those in the foreground or wanted again soon after") {
            $0.paid.count(where: \.isFelt)
        },
        bytes("others_ended_bytes", "The memory that all these held when they ended") {
            $0.paid.reduce(ByteCount.zero) { $0 + $1.footprint }
        },
    ]

    /// As `paid`; in a list of its own, because new columns go last.
    static let paidOffScreen = [
        count("others_ended_off_screen", "Of others_ended, ended under pressure while it was off screen") {
            $0.paid(in: .offScreen)
        }
    ]
}

extension AppFacts {
    fileprivate func paid(in stage: RunTally.Stage) -> Int {
        paid.count { $0.beneficiary?.need == .level && $0.beneficiary?.stage == stage }
    }
}
