import Quantities

extension Ladder {
    /// Which of the processes off screen the ladder ends first.
    ///
    /// Without weights, the longest idle process goes first. `size_weight` adds the footprint to the score: ending one
    /// large process makes room for several small ones. `relaunch_weight` subtracts the cost of bringing it back, as
    /// GreedyDual-Size does with the cost and size of a cached document (Cao and Irani, USENIX 1997). `spare_recent`
    /// puts processes that were seen a moment ago last. Idle time, size and cost are each divided by the greatest value
    /// among the processes off screen. The unit of a score is a microsecond of idle time.
    struct VictimOrder {
        static let parameters: [Parameter<Ladder>] = [
            Parameter(
                \.order.sizeWeight, "size_weight", from: .zero, to: .one, scale: .even,
                meaning: "which process ends first: 0% the longest idle, 100% the largest; values between mix both",
                source: "ours; xnu goes by idle time within a band, Linux's oom_badness by size"),
            Parameter(
                \.order.relaunchWeight, "relaunch_weight", from: .zero, to: .one, scale: .even,
                meaning: "weight of the cost of a relaunch: the costlier, the later the app is ended",
                source: "ours; GreedyDual-Size, Cao and Irani 1997"),
            Parameter(
                \.order.spareRecent, "spare_recent", from: .zero, to: .hours(24),
                meaning: "an app seen within this time goes last, and is never ended for a level alone",
                source: "ours; Android keeps the previous app above cached ones, PREVIOUS_APP_ADJ"),
        ]

        private var sizeWeight = Ratio.zero
        private var relaunchWeight = Ratio.zero
        private var spareRecent = TimeSpan.zero

        func among(_ snapshot: SystemSnapshot) -> Among {
            let all = snapshot.processes.filter { !$0.isInFront }
            return Among(
                order: self, now: snapshot.now, idle: all.map { $0.idleTime(at: snapshot.now) }.max() ?? .zero,
                footprint: all.map(\.footprint).max() ?? .zero, cost: all.map(\.relaunchCost).max() ?? .zero)
        }

        /// The order together with the greatest values among the processes at one moment.
        struct Among {
            let order: VictimOrder
            let now: Instant
            let idle: TimeSpan
            let footprint: ByteCount
            let cost: TimeSpan

            /// Whether the process was seen within `spare_recent`; never for one that was never seen.
            func spares(_ process: ProcessSnapshot) -> Bool {
                process.lastForeground != nil && process.idleTime(at: now) < order.spareRecent
            }

            /// The score, and what was compared. Within a rung, the larger score goes first.
            func score(_ process: ProcessSnapshot) -> (score: Int64, why: String) {
                let own = process.idleTime(at: now).microseconds
                guard order.sizeWeight > .zero || order.relaunchWeight > .zero else {
                    return (own, "idle longest")
                }
                let size = share(Int64(process.footprint.bytes), of: Int64(footprint.bytes))
                let price = share(process.relaunchCost.microseconds, of: cost.microseconds)
                let score =
                    weighted(own, Ratio.one - order.sizeWeight) + weighted(size, order.sizeWeight)
                    - weighted(price, order.relaunchWeight)
                return (score, standing(of: process))
            }

            /// What stands out of a process among those off screen, as far as the order looks at it.
            private func standing(of process: ProcessSnapshot) -> String {
                let (looksAtSize, isCostly) = (order.sizeWeight > .zero, order.relaunchWeight > .zero)
                let isIdlest = order.sizeWeight < .one && process.idleTime(at: now) == idle
                let isLargest = looksAtSize && process.footprint == footprint
                if isLargest { return isIdlest ? "idle longest and the largest" : "largest of the idle" }
                if isIdlest { return "idle longest" }
                let measures =
                    (order.sizeWeight < .one ? ["idle time"] : []) + (looksAtSize ? ["size"] : [])
                    + (isCostly ? ["the cost of a launch"] : [])
                guard let last = measures.last, measures.count > 1 else { return "by " + measures.joined() }
                return "by \(measures.dropLast().joined(separator: ", ")) and \(last)"
            }

            /// The value's share of the greatest value, scaled to microseconds of the longest idle time.
            private func share(_ value: Int64, of most: Int64) -> Int64 {
                most > 0 ? scaled(value, by: idle.microseconds, over: most) : 0
            }

            private func weighted(_ value: Int64, _ weight: Ratio) -> Int64 {
                scaled(value, by: weight.partsPerMillion, over: Ratio.one.partsPerMillion)
            }
        }
    }
}
