import Lifecycle
import Quantities

extension Foresight {
    /// The futures that may follow a decision. A future tells which apps are live at each launch, and what making
    /// room cost.
    ///
    /// The search goes from launch to launch. For each future it knows the set of live apps. A launch costs nothing if
    /// its app is live. If it is not, or if a limit on background apps demands it, apps are ended until there is room.
    /// An app that is ended and wanted again costs one relaunch. The future with fewer relaunches is better; on a tie,
    /// the one with less relaunch time. No app is ended before it has to be, because a live app can still be ended
    /// later. The search follows the cheapest futures first. It keeps at most `width` of them at a time, and
    /// `waysOfEach` bounds how many launches it looks ahead. Its result is exact if neither bound cuts anything off.
    struct Futures {
        /// An app as the search knows it.
        struct App {
            /// Its footprint now.
            var size: Int64
            /// Its footprint after it has next been in front.
            var later: Int64
            var relaunch: Int64
            /// The instants still to come at which it is wanted, rising.
            var wanted: [Instant]
            var mayEnd: Bool
        }

        /// A future so far. `first` holds the apps to end now.
        private struct Path {
            var live: UInt64
            var first: UInt64
            var count: Int64 = 0
            var time: Int64 = 0
        }

        private let apps: [App]
        /// The apps in front, or on the way there.
        private let front: UInt64
        private let launches: [(at: Instant, app: Int)]
        private let room: Int64
        private let mostOffScreen: Int64?
        private let roomOffScreen: Int64?
        private let width: Int
        /// How many terminations the search may still try, over all futures. Below zero, it follows no further launch.
        private var ways: Int

        /// The number of terminations to try for each future. If each launch ends one app, this is enough for about
        /// thirty launches with thirty apps, or for a hundred launches with ten apps.
        private static let waysOfEach = 1_000

        /// Nil: there are more apps than the search can represent, or the future is unknown.
        init?(_ snapshot: SystemSnapshot, width: Int) {
            guard let oracle = snapshot.oracle, width > 0, oracle.nextLaunch.count <= 64,
                snapshot.processes.allSatisfy({ $0.app.index < 64 })
            else { return nil }
            let count = max(oracle.nextLaunch.count, 1 + (snapshot.processes.map(\.app.index).max() ?? -1))
            // An app with no known figures gets the average of the others.
            let known = max(1, snapshot.processes.count)
            let held = snapshot.processes.reduce(Int64(0)) { $0 + Int64($1.footprint.bytes) }
            let relaunch = snapshot.processes.reduce(Int64(0)) { $0 + $1.relaunchCost.microseconds / 1_000 }
            var apps = (0..<count).map { index in
                let expected = index < oracle.sizes.count ? Int64(oracle.sizes[index].bytes) : held / Int64(known)
                return App(
                    size: expected, later: expected, relaunch: max(1, relaunch / Int64(known)),
                    wanted: oracle.wanted(AppID(index)), mayEnd: false)
            }
            var front: UInt64 = 0
            for process in snapshot.processes {
                let index = process.app.index
                var size = Int64(process.footprint.bytes)
                if case .allocation(process.pid, let wanted) = snapshot.demand { size += Int64(wanted.bytes) }
                apps[index].size = max(1, size)
                apps[index].later = max(size, index < oracle.sizes.count ? apps[index].later : 1)
                if process.isInFront || process.pid == snapshot.requester { front |= 1 << UInt64(index) }
                apps[index].relaunch = max(1, process.relaunchCost.microseconds / 1_000)
                let answersByItself = process.isEnding && snapshot.isAboutLimits
                apps[index].mayEnd =
                    !process.isInFront && process.pid != snapshot.requester && !answersByItself
            }
            self.apps = apps
            self.front = front
            self.width = width
            ways = width * Futures.waysOfEach
            room = held + Int64(snapshot.obtainable.bytes)
            mostOffScreen = oracle.backgroundProcesses.map { Int64($0) }
            roomOffScreen = oracle.backgroundMemory.map { Int64($0.bytes) }
            var launches: [(at: Instant, app: Int)] = []
            for (index, app) in apps.enumerated() { launches += app.wanted.map { ($0, index) } }
            self.launches = launches.sorted { ($0.at, $0.app) < ($1.at, $1.app) }
        }

        /// The apps to end now in the cheapest future; empty if no room can be made.
        mutating func best(_ snapshot: SystemSnapshot) -> [AppID] {
            var live: UInt64 = 0
            for process in snapshot.processes { live |= 1 << UInt64(process.app.index) }
            let need = snapshot.need
            var paths = removing(from: [Path(live: live, first: 0)], at: snapshot.now) { futures, path in
                futures.isMet(need, live: live, gone: live & ~path.live)
            }
            for index in paths.indices { paths[index].first = live & ~paths[index].live }
            // The apps in front grow until the next launch. So does every app that has been in front by then.
            var grown = front
            if front != 0 { paths = fitting(paths, front, grown, at: snapshot.now) }
            for launch in launches {
                let bit: UInt64 = 1 << UInt64(launch.app)
                grown |= bit
                for index in paths.indices { paths[index].live |= bit }
                paths = fitting(distinct(paths), bit, grown, at: launch.at)
                if ways < 0 { break }
            }
            guard let best = paths.first else { return [] }
            return apps.indices.filter { best.first & (1 << UInt64($0)) != 0 }.map { AppID($0) }
        }

        private func isMet(_ need: ReclaimNeed, live: UInt64, gone: UInt64) -> Bool {
            if need.isCount { return Int64(gone.nonzeroBitCount) >= need.amount }
            return size(of: gone, grown: 0) >= need.amount
        }

        /// The total footprint of a set of apps; those in `grown` have been in front.
        private func size(of set: UInt64, grown: UInt64) -> Int64 {
            var (sum, rest) = (Int64(0), set)
            while rest != 0 {
                let index = rest.trailingZeroBitCount
                sum += grown & (1 << UInt64(index)) != 0 ? apps[index].later : apps[index].size
                rest &= rest - 1
            }
            return sum
        }

        /// The paths on which all apps fit while the apps in `front` are in front.
        private mutating func fitting(_ paths: [Path], _ front: UInt64, _ grown: UInt64, at now: Instant) -> [Path] {
            let fitting = removing(from: paths, at: now, keeping: front) { futures, path in
                let hidden = path.live & ~front
                if futures.size(of: path.live, grown: grown) > futures.room { return false }
                if let most = futures.mostOffScreen, Int64(hidden.nonzeroBitCount) > most { return false }
                if let most = futures.roomOffScreen, futures.size(of: hidden, grown: grown) > most { return false }
                return true
            }
            // If an app is too large for the device, ending others does not help.
            return fitting.isEmpty ? paths : fitting
        }

        /// Ends one app after another, in every order, until `isWell` holds. Keeps at most `width` paths.
        private mutating func removing(
            from paths: [Path], at now: Instant, keeping kept: UInt64 = 0,
            until isWell: (Futures, Path) -> Bool
        ) -> [Path] {
            var done: [Path] = []
            var open = paths
            while !open.isEmpty {
                var next: [Path] = []
                for path in open {
                    if isWell(self, path) {
                        done.append(path)
                        continue
                    }
                    for (index, app) in apps.enumerated() {
                        let bit: UInt64 = 1 << UInt64(index)
                        // An app that cannot be ended now may be ended later, off screen.
                        guard path.live & bit != 0, bit & kept == 0, kept != 0 || app.mayEnd else { continue }
                        next.append(ending(index, of: path, at: now))
                        ways -= 1
                    }
                    if ways < 0 { break }
                }
                // With the budget used up, only the cheapest way is completed.
                open = ways < 0 ? Array(distinct(next).prefix(1)) : distinct(next)
            }
            return distinct(done)
        }

        private func ending(_ index: Int, of path: Path, at now: Instant) -> Path {
            var path = path
            path.live &= ~(1 << UInt64(index))
            if let last = apps[index].wanted.last, last > now {
                path.count += 1
                path.time += apps[index].relaunch
            }
            return path
        }

        /// The cheapest path to each set, cheapest first. Among equal paths, the one that ends fewer apps now.
        private func distinct(_ paths: [Path]) -> [Path] {
            func cost(_ path: Path) -> (Int64, Int64, Int) { (path.count, path.time, path.first.nonzeroBitCount) }
            let bySet = paths.sorted { a, b in
                if a.live != b.live { return a.live < b.live }
                return cost(a) == cost(b) ? a.first < b.first : cost(a) < cost(b)
            }
            var kept: [Path] = []
            for path in bySet where kept.last?.live != path.live { kept.append(path) }
            kept.sort { a, b in cost(a) == cost(b) ? a.live > b.live : cost(a) < cost(b) }
            return Array(kept.prefix(width))
        }
    }
}

/// How much is needed: bytes, or a number of processes.
struct ReclaimNeed {
    var amount: Int64
    var isCount: Bool
}

extension SystemSnapshot {
    var need: ReclaimNeed {
        switch demand {
        case .nothing: ReclaimNeed(amount: 0, isCount: false)
        case .pressure(let deficit): ReclaimNeed(amount: Int64(deficit.bytes), isCount: false)
        case .allocation(_, let wanted): ReclaimNeed(amount: max(1, Int64((wanted - available).bytes)), isCount: false)
        case .backgroundProcesses(let excess): ReclaimNeed(amount: Int64(excess), isCount: true)
        case .backgroundMemory(let excess): ReclaimNeed(amount: Int64(excess.bytes), isCount: false)
        }
    }
}
