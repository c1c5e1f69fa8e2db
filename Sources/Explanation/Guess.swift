import Plan
import Quantities
import Workload

/// A figure of the device or of its apps that decides, and that nobody has published.
public struct Guess: Hashable, Sendable {
    /// What the figure says, for people: `files of the system`.
    public let title: String
    /// The keys of the scenario that hold it, for people: `device.file_cache.system`.
    public let key: String
    /// Where the range of its values comes from.
    public let source: String
    /// The values in rising order: five, or six if the plan's own lies near none of the five. A value that makes the
    /// plan impossible is left out, so there may be fewer.
    public let values: [Value]

    /// One value of a guess.
    public struct Value: Hashable, Sendable {
        /// The value as a scenario at full scale states it, such as `740MiB` or `40%`, or the difference from the
        /// plan's own, such as `-15%`.
        public let text: String
        /// Whether the plan has it.
        public let isOwn: Bool
        let setting: Setting
    }

    /// What a value does to a plan. Sizes and rates are at the plan's own scale.
    enum Setting: Hashable, Sendable {
        case own
        case files(ByteCount)
        case filesRate(ByteRate)
        case hot(Ratio)
        /// By how large a part of it more is wired.
        case wired(Ratio)
        /// By how large a part of them the system's processes have more pages.
        case pageable(Ratio)
        case budget(ByteCount)
        case storeRate(ByteRate)
        case resumeShare(Ratio)
        case incompressible(Ratio)
    }
}

extension RunPlan {
    /// The guesses that the run depends on: only those whose part of the device it has, in a fixed order. None if the
    /// policy needs unbounded memory.
    public var guesses: [Guess] {
        guard effectiveCeiling == device.ceiling else { return [] }
        let all = [
            files, filesReadAgain, hotShare, wiredMemory, systemProcesses, budget, storeRate, resumeShare,
            incompressiblePages,
        ]
        return all.compactMap(\.self)
    }

    /// The plan with a value of each named guess.
    ///
    /// - Parameter choices: Guesses of this plan, each once, with the number of one of its values.
    public func with(_ choices: [(guess: Guess, value: Int)]) -> RunPlan {
        var plan = self
        for (guess, value) in choices { guess.values[value].setting.apply(to: &plan, of: self) }
        return plan
    }

    /// Joint draws: for each, the number of one value of every guess.
    ///
    /// They are a Latin hypercube: each guess has each of its values equally often, as far as that is possible. The
    /// seed is fixed, and each guess has a stream of its own, so the draws are the same on every machine. If the values
    /// of a draw are impossible together, the guesses that leave less memory to the apps keep the plan's own values.
    public func draws(of guesses: [Guess], count: Int = 40) -> [[Int]] {
        let columns = guesses.map { guess -> [Int] in
            var generator = SeededGenerator(seed: RunPlan.seedOfGuesses, stream: "guesses/\(guess.key)")
            return generator.order(of: count).map { $0 * guess.values.count / count }
        }
        return (0..<count).map { draw in
            let values = columns.map { $0[draw] }
            guard !with(zip(guesses, values).map { (guess: $0, value: $1) }).isPossible else { return values }
            return zip(guesses, values).map { guess, value in
                guess.values[value].setting.bindsMemory ? guess.own : value
            }
        }
    }

    private static let seedOfGuesses: UInt64 = 47
}

// MARK: What a value does

extension Guess {
    /// Why nothing hangs on a guess, for a plan without guesses.
    public static let whyNone = "this device with this policy has none of the figures that nobody has published."

    /// The number of the plan's own value.
    var own: Int { values.firstIndex(where: \.isOwn) ?? 0 }
}

extension Guess.Setting {
    /// Whether it may leave too little memory to the apps.
    var bindsMemory: Bool {
        switch self {
        case .wired, .pageable, .incompressible: true
        case .own, .files, .filesRate, .hot, .budget, .storeRate, .resumeShare: false
        }
    }

    /// - Parameter base: The plan of the guess. Other guesses may have changed `plan` since.
    fileprivate func apply(to plan: inout RunPlan, of base: RunPlan) {
        switch self {
        case .own: break
        case .files(let size): plan.device.fileCache?.system = size
        case .filesRate(let rate): plan.device.fileCache?.systemReadRate = rate
        case .hot(let share):
            for app in plan.apps.indices { plan.apps[app].memory.hot = share }
        case .wired(let share):
            plan.device.reserved += base.device.wiredFromStart * share
            for point in plan.device.wired.indices {
                let size = base.device.wired[point].size
                plan.device.wired[point].size = size + size * share
            }
        case .pageable(let share):
            let more = base.device.systemPageable * share
            plan.device.systemPageable += more
            plan.device.reserved += more
        case .budget(let size): plan.device.freezer?.budget = size
        case .storeRate(let rate): plan.device.freezer?.readRate = rate
        case .resumeShare(let share): plan.device.compressor?.resumeShare = share
        case .incompressible(let share):
            for app in plan.apps.indices where plan.apps[app].memory.hasTypicalShare {
                let own = plan.apps[app].memory.compressibility
                plan.apps[app].memory.compressibility = own.with(incompressible: share)
            }
        }
    }
}

extension Device {
    /// What is wired of `reserved`.
    fileprivate var wiredFromStart: ByteCount { max(.zero, reserved - ofSystemProcesses) }
}

extension MemoryProfile {
    /// Whether nobody has said how many of its pages do not compress.
    fileprivate var hasTypicalShare: Bool {
        compressibility.incompressible == Compressibility.typical.incompressible
    }
}

extension RunPlan {
    /// Whether the device has memory for apps, and enough for each app at its launch and for those that live when the
    /// run begins. It is no stricter than the scenario's checks.
    fileprivate var isPossible: Bool {
        let mostWired = device.wired.map(\.size).max() ?? .zero
        guard (device.reserved + mostWired).roundedUp(toMultipleOf: 4_096) < device.ceiling else { return false }
        let room = device.ceiling - device.reserved
        guard apps.allSatisfy({ $0.memory.stated * device.scale <= room }) else { return false }
        let held = start.reduce(ByteCount.zero) { sum, entry in
            let kept = apps[entry.process.index].memory.compressibility.kept
            return sum + max(.zero, footprint(of: entry) - entry.compressed) + entry.compressed * kept
        }
        return held <= room
    }

    /// What a process holds at the start, without what further scenes add.
    private func footprint(of entry: StartedProcess) -> ByteCount {
        let app = apps[entry.process.index]
        let first = app.scenes.usesUIKit ? app.memory.scene : .zero
        let plain: ByteCount = entry.state == .prewarmed ? .zero : app.memory.footprint ?? app.memory.base + first
        return entry.footprint ?? plain * device.scale
    }
}

// MARK: The guesses

extension RunPlan {
    /// A value that a guess may have. Values are put in the order of their amounts.
    private struct Step {
        let amount: Int64
        let text: String
        let setting: Guess.Setting

        /// Whether the two are the same to within a tenth of the larger one.
        func isNear(_ other: Int64) -> Bool {
            max(amount, other) - min(amount, other) <= Int64(max(amount.magnitude, other.magnitude) / 10)
        }
    }

    /// Nil if no value but the plan's own is possible.
    ///
    /// - Parameter isMixed: Whether the plan has several figures, which none of the values equals.
    private func guess(
        _ title: String, _ key: String, source: String, own: (amount: Int64, text: String), isMixed: Bool = false,
        _ steps: [Step]
    ) -> Guess? {
        var others = steps.filter { step in
            guard isMixed || !step.isNear(own.amount) else { return false }
            var plan = self
            step.setting.apply(to: &plan, of: self)
            return plan.isPossible
        }
        guard !others.isEmpty else { return nil }
        let place = others.firstIndex { $0.amount > own.amount } ?? others.endIndex
        others.insert(Step(amount: own.amount, text: own.text, setting: .own), at: place)
        let values = others.enumerated().map { index, step in
            Guess.Value(text: step.text, isOwn: index == place, setting: step.setting)
        }
        return Guess(title: title, key: key, source: source, values: values)
    }

    private func shares(_ percents: [Int64], _ setting: (Ratio) -> Guess.Setting) -> [Step] {
        percents.map { percent in
            let share = Ratio.percent(percent)
            return Step(amount: share.partsPerMillion, text: "\(share)", setting: setting(share))
        }
    }

    /// Three tenths less to three tenths more.
    private func differences(_ setting: (Ratio) -> Guess.Setting) -> [Step] {
        [-30, -15, 15, 30].map { (percent: Int64) -> Step in
            let share = Ratio.percent(percent)
            let text = percent > 0 ? "+\(share)" : "\(share)"
            return Step(amount: share.partsPerMillion, text: text, setting: setting(share))
        }
    }

    /// A quarter of the rate to four times it.
    ///
    /// - Parameter text: The rate as a scenario at full scale states it.
    private func multiples(
        of rate: ByteRate, text: (ByteRate) -> String, _ setting: (ByteRate) -> Guess.Setting
    ) -> [Step] {
        [25, 50, 200, 400].compactMap { (percent: Int64) -> Step? in
            let factor = Ratio.percent(percent)
            let other = ByteRate(bytesPerSecond: (ByteCount(rate.bytesPerSecond) * factor).bytes)
            guard other >= RunPlan.slowestRate else { return nil }
            return Step(amount: factor.partsPerMillion, text: text(other), setting: setting(other))
        }
    }

    /// Our own bound.
    private static let slowestRate = ByteRate(bytesPerSecond: 1 << 10)

    /// A size of the device that is meant, in words.
    private func text(_ size: ByteCount) -> String { "\(size.unscaled(by: device.scale).rounded)" }

    private func text(_ rate: ByteRate) -> String { text(ByteCount(rate.bytesPerSecond)) + "/s" }

    private var files: Guess? {
        guard let cache = device.fileCache else { return nil }
        let steps = [10, 15, 20, 27, 35].map { (percent: Int64) -> Step in
            let size = (device.meantCeiling * .percent(percent)).rounded
            return Step(amount: Int64(size.bytes), text: "\(size)", setting: .files(size * device.scale))
        }
        let own = Int64(cache.system.unscaled(by: device.scale).bytes)
        return guess(
            "files of the system", "device.file_cache.system",
            source: "10 to 35 % of RAM: memory backed by files is 4 to 35 % of RAM in ten JetsamEvent reports",
            own: (own, text(cache.system)), steps)
    }

    private var filesReadAgain: Guess? {
        guard let cache = device.fileCache, cache.system > .zero, cache.systemReadRate > .zero else { return nil }
        let rate = cache.systemReadRate
        return guess(
            "files read again", "device.file_cache.system_read_rate", source: "a quarter to four times: no source",
            own: (RunPlan.asItIs, "\(rate)"), multiples(of: rate, text: { "\($0)" }, { .filesRate($0) }))
    }

    private var hotShare: Guess? {
        let all = apps.map(\.memory.hot.partsPerMillion)
        guard device.compressor != nil, let least = all.min(), let most = all.max() else { return nil }
        let isMixed = least != most
        let mean = Ratio(partsPerMillion: all.reduce(0, +) / Int64(all.count))
        return guess(
            "hot share", "apps.*.memory.hot",
            source: "20 to 60 % for every app: apps have hot and cold data (Ariadne, HPCA 2025); how much, no source",
            own: (mean.partsPerMillion, isMixed ? "as stated" : "\(mean)"), isMixed: isMixed,
            shares([20, 30, 40, 50, 60]) { .hot($0) })
    }

    private var wiredMemory: Guess? {
        guard device.kernel != nil, device.wiredFromStart > .zero else { return nil }
        return guess(
            "wired memory", "device.reserved, device.wired",
            source: "30 % less to 30 % more: no source",
            own: (0, "0%"), differences { .wired($0) })
    }

    private var systemProcesses: Guess? {
        guard device.systemPageable > .zero else { return nil }
        return guess(
            "the system's processes", "device.system_pageable, device.reserved",
            source: "30 % less to 30 % more: no source", own: (0, "0%"), differences { .pageable($0) })
    }

    private var budget: Guess? {
        guard let freezer = device.freezer else { return nil }
        let steps = [0, 512, 1_024, 1_536, 2_048].map { (count: Int) -> Step in
            let size = ByteCount.mebibytes(count)
            return Step(amount: Int64(size.bytes), text: "\(size)", setting: .budget(size * device.scale))
        }
        let own = freezer.budget.map { Int64($0.unscaled(by: device.scale).bytes) }
        return guess(
            "the freezer's budget", "device.freezer.budget",
            source: "0 to 2 GB a day: XNU takes it from the flash controller, 1 GiB at most (xnu-11417.101.15)",
            own: (own ?? .max, freezer.budget.map(text) ?? "none"), steps)
    }

    private var storeRate: Guess? {
        guard let rate = device.freezer?.readRate else { return nil }
        return guess(
            "the store's rate", "device.freezer.read_rate", source: "a quarter to four times: no source",
            own: (RunPlan.asItIs, text(rate)), multiples(of: rate, text: { text($0) }, { .storeRate($0) }))
    }

    private var resumeShare: Guess? {
        guard let share = device.compressor?.resumeShare else { return nil }
        return guess(
            "what a resume brings back", "device.compressor.resume_share", source: "20 to 60 %: no source",
            own: (share.partsPerMillion, "\(share)"), shares([20, 30, 40, 50, 60]) { .resumeShare($0) })
    }

    private var incompressiblePages: Guess? {
        guard device.compressor != nil, apps.contains(where: \.memory.hasTypicalShare) else { return nil }
        let share = Compressibility.typical.incompressible
        return guess(
            "pages that do not compress", "apps.*.memory.compressibility.incompressible",
            source: "0 to 30 % for apps that state none: no source",
            own: (share.partsPerMillion, "\(share)"), shares([0, 5, 10, 20, 30]) { .incompressible($0) })
    }

    /// The amount of a rate as it is, among its multiples.
    private static let asItIs = Ratio.one.partsPerMillion
}

extension ByteCount {
    /// To whole MiB, or below 16 MiB to whole KiB.
    fileprivate var rounded: ByteCount {
        let unit = bytes < 16 << 20 ? 1 << 10 : 1 << 20
        return ByteCount((bytes + unit / 2) / unit * unit)
    }
}
