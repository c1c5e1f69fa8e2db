import Memory
import Pressure
import Quantities
import Reclaim
import Simulation
import Workload

extension RunPlan: Described {
    /// The version of the format that this program reads and writes.
    static var formatVersion: Int { 1 }

    /// jemalloc provides about 4,090 arenas at once, and each process needs one; the rest is a margin.
    public static var mostApps: Int { ListLimits.names }

    private static let blank = RunPlan(
        name: "", seed: 1, duration: .zero, device: Device.definition.base, monitor: .ios, policy: .standard,
        limits: Limits(), apps: [], user: [])

    /// The whole scenario.
    static let definition = Definition<RunPlan>(
        base: blank,
        fields: [
            Field(
                checked: "plimsoll", .version, constant: "\(formatVersion)", required: true,
                "The version of this format."),
            Field("name", \.name, .name, required: true, "The scenario's name, as in summary.csv."),
            Field(
                "description", \.description, .text(length: 10_000), omitted: \.isEmpty,
                "What the scenario shows; for people."),
            Field("seed", \.seed, .seed, "The seed that decides everything random."),
            Field(
                "duration", \.duration, .quantity(from: .milliseconds(1)), required: true,
                "How long the run lasts, in virtual time."),
            Field(
                "backend", \.backend, .choice("backend", "backends"),
                "Real memory through jemalloc, or its arithmetic alone."),
            Field("device", \.device, .record, required: true, "The simulated device."),
            Field("monitor", \.monitor, .record, "When memory is looked at, and what counts as pressure."),
            Field("policy", \.policy, .policy, "Who decides whose memory is taken back."),
            Field("limits", \.limits, .record, "Limits that stand above any policy."),
            Field(
                "apps", \.apps,
                .list(
                    of: Codec<AppProfile>.record, called: "apps", atLeast: 1, atMost: mostApps,
                    because: ", for each process needs an arena"
                ) { tree, index in
                    tree["name"]?.text ?? "\(index)"
                },
                required: true, "The apps of the device."),
            Field(
                "user", \.user,
                .list(of: .userEntry, called: "events", atMost: ListLimits.entries).checked { entries in
                    let count = entries.reduce(0) { $0 + $1.eventCount }
                    return count > ListLimits.events
                        ? "these stand for \(count) events; at most \(ListLimits.events)" : nil
                },
                "What the user and the system do, in any order."),
            Field(
                "expect", \.expectations, .list(of: .expectation, called: "claims such as 'terminations == 0'"),
                "Claims about summary.csv; a run that breaks one ends with status 99."),
            Field("metrics", \.self, .record(metrics), "How figures are counted."),
        ])

    private static let metrics = Definition<RunPlan>(
        base: blank,
        fields: [
            Field(
                "perceived_within", \.perceivedWithin, .quantity(),
                "A termination is perceived when its app is wanted again within this time."),
            Field(
                "apps", \.appRows, .choice("kind of rows", "kinds of rows"),
                "The rows of apps.csv: every process at every sample, or those that differ from their last row."),
        ])
}

extension Codec where Value == Int {
    static var version: Codec {
        let version = RunPlan.formatVersion
        return .scalar(
            expected: "the format's version, \(version)", quoted: false,
            schema: .object(["enum": .array([.number("\(version)"), .string("\(version)")])]), parse: { Int($0) },
            text: { "\($0)" }
        ).checked {
            $0 == version ? nil : "version \($0) of the format is not known; this program reads version \(version)"
        }
    }
}

extension Device: Described {
    static let definition = Definition<Device>(
        base: Device(ceiling: .zero),
        fields: [
            Field(
                "ceiling", \.ceiling, .quantity(from: .mebibytes(1), to: MemoryLimits.highestCeiling), required: true,
                "All of its RAM: not one page beyond it is ever handed out."),
            Field("reserved", \.reserved, .quantity(), "What the system keeps for itself during the whole run."),
            Field(
                "scale", \.scale, .quantity(from: RunPlan.smallestScale, to: RunPlan.largestScale),
                "Its size, measured by the device that is meant: at 25% apps hold a quarter of the pages that they "
                    + "would hold there. Set by --scale, together with the sizes of the device."),
            Field("cores", \.cores, .count(1...1_024), "How many main threads run at the same time."),
            Field("fill_rate", \.fillRate, .quantity(from: .slowest), "How fast an app fills fresh pages."),
            Field("reclaim_rate", \.reclaimRate, .quantity(from: .slowest), "How fast the system takes pages back."),
            Field(
                "termination_time", \.terminationTime, .quantity(),
                "What ending a process costs the system, beside taking its pages back."),
            Field(
                "dirty_decay", \.dirtyDecay, .quantity(),
                "How long unused pages stay with a process before they go back by themselves."),
        ])
}

extension ByteRate {
    /// With a slower device the time of a single fill would exceed the range of virtual time.
    static let slowest = ByteRate(bytesPerSecond: 1 << 20)
}

extension MonitorSettings: Described {
    static let definition = Definition<MonitorSettings>(
        base: .ios,
        start: { tree, settings in
            MonitorSettings.presets.first { $0.preset == tree["preset"]?.text } ?? settings
        },
        fields: [
            Field(
                "preset", \.preset, .name(of: "preset", "presets") { MonitorSettings.presets.map(\.preset) },
                "The settings to begin with; the other keys are laid over them."),
            Field("interval", \.interval, .quantity(from: .milliseconds(1)), "The time between two samples."),
            Field("warning", \.warning, .record, "The warning level."),
            Field("critical", \.critical, .record, "The critical level."),
            Field("hold", \.hold, .quantity(), "A lower level must hold this long before it counts."),
            Field("warning_spacing", \.warningSpacing, .quantity(), "The distance between two apps that are told."),
            Field("warning_rest", \.warningRest, .quantity(), "The rest of a level after all apps have been told."),
            Field("warning_repeat", \.warningRepeat, .quantity(), "A level that sticks is told again after this."),
            Field(
                "warning_minimum_footprint", \.warningMinimumFootprint, .quantity(),
                "Apps with a smaller footprint are not told."),
            Field("measure", \.measure, .choice("measure", "measures"), "What is compared with the thresholds."),
            Field(
                "debounce", \.debounce, .quantity(),
                "A threshold is crossed only by more than this, in either direction."),
            Field("cool_down", \.coolDown, .quantity(), "After a level has fallen, it rises again only after this."),
            Field(
                "end_suspended_first", \.endSuspendedFirst, .flag,
                "Suspended apps are ended, longest idle first, before running apps are warned: no more than it takes. "
                    + "It does nothing with the measure process."),
            Field(
                "rise_needs_fewer_processes", \.riseNeedsFewerProcesses, .flag,
                "A level rises only when there are fewer processes than at the last look; it falls freely."),
        ])
}

extension Codec where Value == Threshold {
    /// A share of the whole, or a size in bytes.
    static var threshold: Codec {
        let schema = JSON.object([
            "type": .strings(["string", "number"]),
            "pattern": .string("(\(Ratio.pattern))|(\(ByteCount.pattern))"),
            "minimum": .number("0"), "maximum": .number("1"),
        ])
        return .scalar(
            expected: "a share such as 5% or a size such as 150MB", quoted: false, schema: schema,
            parse: { text in
                if let ratio = try? Ratio(parsing: text) { return .share(ratio) }
                return (try? ByteCount(parsing: text)).map { .bytes($0) }
            }, text: { $0.description }
        ).checked { threshold in
            switch threshold {
            case .share(let ratio): ratio > .one ? "\(ratio) is too large; at most \(Ratio.one)" : nil
            case .bytes(let bytes):
                bytes > ByteCount.ordinary.upperBound
                    ? "\(bytes) is too large; at most \(ByteCount.ordinary.upperBound)" : nil
            }
        }
    }
}

extension LevelThresholds: Described {
    static let definition = Definition<LevelThresholds>(
        base: MonitorSettings.ios.warning,
        fields: [
            Field(
                "enter", \.enter, .threshold,
                "Entered beyond this share or size; of memory, when less is available."),
            Field("leave", \.leave, .threshold, "Left on this side of it; with memory, when more is available."),
        ])
}

extension Limits: Described {
    static let definition = Definition<Limits>(
        base: Limits(),
        fields: [
            Field(
                "background_processes", \.backgroundProcesses, Codec.count(0...1_000_000).orNone(),
                "How many processes may be off screen at once, suspended ones included. A demand on the policy: "
                    + "`none` and `unbounded` never meet it."),
            Field(
                "background_memory", \.backgroundMemory, Codec.quantity().orNone(),
                "What the processes off screen may hold together. A demand on the policy, as background_processes."),
            Field(
                "background_time", \.backgroundTime, .quantity(),
                "How long a process may run off screen without a background mode."),
            Field(
                "terminations_per_minute", \.terminationsPerMinute, Codec.count(0...1_000_000).orNone(),
                "How many terminations a policy may order within any 60 s."),
            Field(
                "minimum_stay", \.minimumStay, .quantity(), "A process this young is not terminated by a policy."),
            Field(
                "protected", \.protected, .list(of: .app, called: "app names", atMost: ListLimits.names),
                "Apps that a policy may never terminate."),
            Field(
                "protect_audible", \.protectAudible, .flag,
                "An app that plays audio off screen is not terminated by a policy."),
        ])
}
