import ArgumentParser
import Experiments
import Memory
import Plan
import Quantities

/// Parses option values; the errors name the expected form. These options take the next word whatever it is
/// (`parsing: .unconditional`), so `--seed -1` is a wrong seed, not a missing one.
enum OptionValue {
    static func seed(_ text: String) throws -> UInt64 {
        guard text.isDigits, let seed = UInt64(text) else {
            throw ValidationError("expected a whole number from 0 to \(UInt64.max)")
        }
        return seed
    }

    static func count(_ text: String, in range: ClosedRange<Int>) throws -> Int {
        guard text.isDigits, let count = Int(text), range.contains(count) else {
            let bounds =
                range.upperBound == .max
                ? "of at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
            throw ValidationError("expected a whole number \(bounds)")
        }
        return count
    }

    static func time(_ text: String) throws -> TimeSpan {
        do {
            return try TimeSpan(parsing: text)
        } catch {
            throw ValidationError("expected \(error.expected)")
        }
    }

    static func price(_ text: String) throws -> TimeSpan {
        let price = try time(text)
        guard price <= PersonWaits.Prices.largest else {
            throw ValidationError("expected a time of at most \(PersonWaits.Prices.largest)")
        }
        return price
    }

    /// The sizes that one app may have, if nothing else is known of it.
    static let footprints = ByteCount.mebibytes(20)...ByteCount.mebibytes(4096)

    /// A size that one app may have.
    static func footprint(_ text: String) throws -> ByteCount { try footprint(text, within: footprints) }

    /// A size within bounds.
    ///
    /// - Parameter allowed: Nil if they are not known yet.
    static func footprint(_ text: String, within allowed: ClosedRange<ByteCount>?) throws -> ByteCount {
        let size = try? ByteCount(parsing: text)
        guard let size, allowed?.contains(size) ?? (size > .zero) else {
            let bounds = allowed.map { ", from \($0.lowerBound) to \($0.upperBound)" } ?? ""
            throw ValidationError("expected \(ByteCount.expectation)\(bounds)")
        }
        return size
    }

    /// The scenario's device may restrict the scale further.
    static func scale(_ text: String) throws -> Ratio {
        guard let scale = try? Ratio(parsing: text), scale > .zero, scale <= RunPlan.largestScale else {
            throw ValidationError(
                "expected \(Ratio.expectation), from \(RunPlan.smallestScale) to \(RunPlan.largestScale)")
        }
        return scale
    }

    /// Checks the form `key=value`; the scenario checks key and value.
    static func assignment(_ text: String) throws -> String {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
            throw ValidationError("expected key=value, such as device.ceiling=512MiB")
        }
        return text
    }
}

/// The option that changes settings of a scenario.
struct SettingOptions: ParsableArguments {
    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Change one setting of the scenario. Repeatable; the last value of a key counts.", valueName: "key=value"),
        completion: Candidates.settings, transform: OptionValue.assignment)
    var sets: [String] = []
    var keys: [String] { sets.map { String($0.prefix { $0 != "=" }) } }
}

extension ParsableArguments {
    /// Refuses an empty path: it would mean the root of the file system, or nothing.
    func refuseEmpty(_ text: String?, _ what: String, _ advice: String = "name what to write") throws {
        if text?.isEmpty == true { throw ValidationError("\(what) is empty; \(advice)") }
    }

    /// Refuses to set a key whose own option is also given: `--set seed=1 --seed 2`.
    func refuse(
        keys: [String], as option: String, seed: UInt64? = nil, policy: String? = nil, backend: MemoryBackend?
    ) throws {
        let options = [
            ("seed", seed != nil, ["seed"]), ("policy", policy != nil, ["policy", "policy.name"]),
            ("backend", backend != nil, ["backend"]),
        ]
        for key in keys {
            for (name, isGiven, taken) in options where isGiven && taken.contains(key) {
                throw ValidationError("\(option) \(key): the \(name) is that of --\(name); leave one of them out")
            }
        }
    }

    /// Refuses empty paths of input files.
    func refuseEmpty(scenarios: [String], policies: [String] = []) throws {
        for path in scenarios { try refuseEmpty(path, "a scenario's path", "name a scenario file") }
        for policy in policies { try refuseEmpty(policy, "--policy", "name a policy or a policy file") }
    }
}
