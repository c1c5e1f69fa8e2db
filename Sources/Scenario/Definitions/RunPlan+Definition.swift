import Memory
import Plan
import Pressure
import Quantities
import Reclaim
import Workload

extension RunPlan: Described {
    /// The version of the format that this program reads and writes.
    static var formatVersion: Int { 1 }

    /// jemalloc provides about 4,090 arenas at once, and each process needs one; the rest is a margin.
    public static var mostApps: Int { ListLimits.names }

    /// With `processes` and more than this many of them and of apps, `apps.csv` has only changed rows by itself.
    private static let mostProcessesWithAllRows = 100

    private static let blank = RunPlan(
        name: "", seed: 1, duration: .zero, device: Device.definition.base, monitor: .ios, policy: .standard,
        limits: Limits(), apps: [], user: [])

    /// The whole scenario.
    static let definition = Definition<RunPlan>(
        base: blank,
        start: { tree, plan in
            let device = tree["device"]
            let preset = DevicePreset.named(device?["like"]?.text ?? "")
            let managesMemory = preset.map { Device.managesMemory($0, device) } ?? false
            var plan = preset?.applied(to: plan, managesMemory: managesMemory) ?? plan
            let parts = tree["processes"]?.elements?.count ?? 0
            let isLarge = parts + (tree["apps"]?.elements?.count ?? 0) > mostProcessesWithAllRows
            if parts > 0 && isLarge { plan.appRows = .changed }
            return plan
        },
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
                "`jemalloc`: real memory. `accounting`: only computes what jemalloc would do."),
            Field("device", \.device, .record, required: true, "The simulated device."),
            Field(
                checked: "scale", Codec<Ratio>.quantity(from: smallestScale, to: largestScale), constant: nil,
                "Makes a scale model of the whole scenario, like the option `--scale`, which multiplies this one. At "
                    + "25% the device has a quarter of its memory, and apps hold a quarter of their pages."),
            Field("monitor", \.monitor, .record, "When memory is sampled, and what counts as pressure."),
            Field("policy", \.policy, .policy, "The policy that decides which processes lose memory."),
            Field("limits", \.limits, .record, "Limits that hold under every policy."),
            Field(
                "lifecycle", \.lifecycle, .record,
                "Rows of the life cycle that are not settled by documentation, or differ between systems."),
            Field(
                "apps", \.ownApps,
                .list(
                    of: Codec<AppProfile>.record, called: "apps", atLeast: 1, atMost: mostApps,
                    because: ", for each process needs an arena"
                ) { tree, index in
                    tree["name"]?.text ?? "\(index)"
                },
                required: true, "The apps of the device."),
            Field(
                "processes", \.parts,
                .list(
                    of: .record(AppProfile.definitionOfPart), called: "processes", atMost: mostApps,
                    because: ", for each process needs an arena"
                ) { tree, index in
                    tree["name"]?.text ?? "\(index)"
                },
                omitted: \.isEmpty,
                "Processes that are no apps: helpers, extensions and daemons."),
            Field(
                "start", \.start,
                .list(
                    of: Codec<StartedProcess>.record, called: "processes", atMost: mostApps,
                    because: ", for each process needs an arena"),
                omitted: \.isEmpty,
                "Apps and processes that are alive when the run begins, the least recently used first."),
            Field(
                "control_groups", \.controlGroups,
                .list(of: Codec<ControlGroup>.record, called: "control groups") { tree, index in
                    tree["name"]?.text ?? "\(index)"
                },
                omitted: \.isEmpty,
                "Linux's control groups (slices, services, pods): processes that have a limit together, or end "
                    + "together."),
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
                "Claims about summary.csv and app_summary.csv; a run that breaks one ends with status 99."),
            Field("metrics", \.self, .record(metrics), "How figures are counted."),
        ])

    private static let metrics = Definition<RunPlan>(
        base: blank,
        fields: [
            Field(
                "perceived_within", \.perceivedWithin, .quantity(), drawn: .times(.seconds(1), .hours(1)),
                "A termination is perceived if the user wants the app again within this time."),
            Field(
                "apps", \.appRows, .choice("kind of rows", "kinds of rows"),
                "The rows of apps.csv: every process at every sample, or only "
                    + "processes that differ from their last row. Left out: `changed` if there are `processes`, and "
                    + "with the apps more than 100; else `all`."),
            Field(
                "duties", \.showsDuties, .flag, drawn: .flag(70),
                "events.csv also shows what apps do inside their callbacks, and when their windows and views appear."),
        ])
}

extension ControlGroup: Described {
    static let definition = Definition<ControlGroup>(
        base: ControlGroup(name: ""),
        fields: [
            Field("name", \.name, .name, required: true, "The group's name, unique among the groups."),
            Field(
                "processes", \.members, .list(of: .app, called: "app names", atLeast: 1, atMost: ListLimits.names),
                required: true,
                "The apps and processes of the group. Each is in one group at most. The helpers and extensions of an "
                    + "app are in the group of the app, unless a group names them."),
            Field(
                "memory_max", \.limit, Codec.scaled(from: .mebibytes(1)).orNone(),
                "The most that the processes of the group may hold together (`memory.max`). When an allocation goes "
                    + "beyond it, Linux's kernel ends the process of the group with most badness. `none`: there is no "
                    + "limit."),
            Field(
                "oom_group", \.endsAsOne, .flag, drawn: .flag(50),
                "Whether Linux's kernel ends the whole group when it ends a process of it (`memory.oom.group`), except "
                    + "processes with the `oom_score_adj` -1000."),
            Field(
                "managed_oom_preference", \.preference, .choice("preference", "preferences"),
                "systemd's setting for the group, in place of that of its processes. `systemd-oomd` ends a group as "
                    + "one."),
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
    /// Whether a device of the preset has a compressor, by the tree of the scenario's `device`.
    private static func compresses(_ preset: DevicePreset, _ tree: Tree?) -> Bool {
        tree?["compressor"].map { $0.text != "off" } ?? preset.compresses
    }

    /// Whether it has the memory management of a kernel.
    fileprivate static func managesMemory(_ preset: DevicePreset, _ tree: Tree?) -> Bool {
        compresses(preset, tree) && preset.kernel != nil && tree?["kernel"]?.text != "none"
    }

    /// A device without a name whose compressor is zram has the figures of zram.
    private static func withZram(_ device: Device, _ tree: Tree) -> Device {
        guard let compressor = tree["compressor"], compressor.text != "off", tree["kernel"]?.text ?? "none" == "none",
            tree["swap"]?["zram"]?.text != "false"
        else { return device }
        var device = device
        device.compressor = .zram
        return device
    }

    /// Whether Linux manages the device's memory, or the scenario says something of that.
    private static let concernsLinux: @Sendable (Device) -> Bool = { device in
        device.isZramByDefault || device.swap != SwapSettings() || device.reclaim != nil
    }

    static let definition = Definition<Device>(
        base: Device(ceiling: .zero),
        preset: "like",
        start: { tree, device in
            guard let preset = DevicePreset.named(tree["like"]?.text ?? "") else { return withZram(device, tree) }
            guard compresses(preset, tree) else { return preset.device }
            var device = preset.deviceWithCompressor
            // What the preset has in addition must not contradict what the scenario says.
            let isManaged = managesMemory(preset, tree)
            if !isManaged { (device.kernel, device.fileCache) = (nil, nil) }
            if !isManaged || tree["reserved"] != nil {
                (device.systemPageable, device.systemCompressed) = (.zero, .zero)
            }
            if !isManaged || tree["compressor"]?["codec"]?.text == "lz4" { device.freezer = nil }
            return device
        },
        fields: [
            Field(
                "like", \.like, Codec.name(of: "device", "devices") { DevicePreset.all.map(\.name) }.orNone(),
                omitted: { $0 == nil },
                "A device by name (`plimsoll list devices`). It gives the values of all keys of `device` that are left "
                    + "out, and the `policy`, the `monitor`, `limits.background_time` and `lifecycle.call` of a "
                    + "scenario without these."),
            Field(
                "name", \.name, Codec.name.orNone(), omitted: { $0 == nil },
                "What people call the device; for people and reports."),
            Field(
                "os", \.os, Codec.name.orNone(), omitted: { $0 == nil },
                "The device's system with its version, such as `iOS 18.4`; for people and reports."),
            Field(
                "ceiling", \.ceiling, .scaled(from: .mebibytes(1), to: MemoryLimits.highestCeiling), required: true,
                "The device's whole RAM. The device never hands out a page beyond it."),
            Field("reserved", \.reserved, .scaled(), "RAM that the system keeps for itself during the whole run."),
            Field(
                "scale", \.scale, .quantity(from: RunPlan.smallestScale, to: RunPlan.largestScale),
                "For scale models: at 25%, apps hold a quarter of the pages that they would hold at 100%. The "
                    + "option `--scale` sets this key together with the device's sizes."),
            Field(
                "cores", \.cores, .cores,
                "The cores that all work shares: a number of equal ones, or clusters of different speeds."),
            Field(
                "fill_rate", \.fillRate, .unscaled(from: .slowest), drawn: .rates(.mebibytes(16), .gibibytes(4)),
                "How fast an app can fill fresh pages."),
            Field(
                "reclaim_rate", \.reclaimRate, .scaled(from: .slowest), drawn: .rates(.mebibytes(16), .gibibytes(16)),
                "How fast the system can take pages back."),
            Field(
                "termination_time", \.terminationTime, .quantity(), drawn: .times(.zero, .seconds(2)),
                "How long the system takes to end a process, not counting the time to take its pages back."),
            Field(
                "dirty_decay", \.dirtyDecay, .quantity(), drawn: .times(.zero, .minutes(2)),
                "How long a process keeps unused pages before they return to the device by themselves."),
            Field(
                "page", \.page, .choice("page size", "page sizes"),
                "The unit in which JetsamEvent reports count memory. Memory is always booked in pages of 4KiB."),
            Field(
                "windows", \.windows, .choice("number of windows", "numbers of windows"), chance: 15,
                "How many windows an app can have on the device's own screen. `one`: `open_scene` of an app that has "
                    + "one is refused, as on an iPhone."),
            Field(
                "rewrite", \.rewrite, .choice("extent", "extents"), omitted: { $0 == .line }, chance: 12,
                "How much of the memory that an app uses again is gone over, on the backend `jemalloc`. `line`: one "
                    + "cache line of each page. `bytes`: all of it. The tables are the same."),
            Field(
                "app_limit", \.appLimit, Codec.scaled(from: .mebibytes(1)).orNone(),
                "The fatal limit of each app that states no `limits.active`. The app is warned at the whole percentage "
                    + "of it that lies 100MiB below (50MiB on a device of less than 1GiB), but never below 80%."),
            Field(
                "entitled_limit", \.entitledLimit, Codec.scaled(from: .mebibytes(1)).orNone(), omitted: { $0 == nil },
                "The fatal limit of an app with `entitled: true` that states no `limits.active`. `none`: it is that of "
                    + "every app."),
            Field(
                "marks", \.marks, .record,
                "Thresholds of available memory for the policy `jetsam`, in place of its kernel's table."),
            Field(
                "compressor", \.compressor, Codec<CompressorSettings>.record.orNone("off"),
                "Compresses pages when memory is short. Off: no page ever loses its frame. With `like`, a device by "
                    + "Apple has its compressor; with a compressor, `reserved` is what the system really occupies."),
            Field(
                "file_cache", \.fileCache, Codec<FileCacheSettings>.record.orNone("off"),
                "Keeps pages of the apps' files (`memory.files`) in memory that is free otherwise, drops them when "
                    + "memory is needed, and reads them again. Off: files take no memory and no time."),
            Field(
                "kernel", \.kernel, Codec<JetsamKernel>.kernel.orNone(), omitted: { $0 == nil },
                "The release of XNU whose memory management the device has: when pages are compressed, what counts as "
                    + "available, and which release jetsam is of. Needs a compressor. None: Plimsoll's own rules."),
            Field(
                "fallback", \.fallback.rule, .choice("fallback", "fallbacks"), omitted: { $0 == .requester },
                chance: 25,
                "Who ends a process when an allocation finds no room and the policy frees none. `requester`: the "
                    + "process that waits, once it has waited in vain. `kernel-oom`: Linux's kernel ends the process "
                    + "with most badness, at once, where a real one first stalls for a while. Documented."),
            Field(
                "linux", \.fallback.linux, .choice("release of Linux", "releases of Linux"),
                omitted: { $0 == .standard }, chance: 15,
                "The long-term release of Linux whose OOM killer the device has: for `fallback: kernel-oom` and for "
                    + "the policy `kernel-oom`. The rules are documented."),
            Field(
                "swap", \.statedSwap, .record, omitted: { _ in true }, stated: concernsLinux,
                "Linux's swap, which its killers and rules look at, and its kernel's badness. It is the device's "
                    + "compressor, and a disk behind it."),
            Field(
                "reclaim", \.statedReclaim, .choice("way to make room", "ways to make room"),
                omitted: { _ in true }, stated: concernsLinux,
                "Who makes room. `background`: the compressor alone. `linux`: kswapd does between two watermarks of "
                    + "free memory, and a process that finds less than the lowest one makes room itself; that time, "
                    + "and the time in which pages come back, is a stall (PSI). Left out: `linux` if the compressor "
                    + "is zram."),
            Field(
                "wired", \.wired, .wiredPoints, omitted: \.isEmpty,
                "What the system wires beyond `reserved`, over time, such as the graphics of a game. It takes free "
                    + "memory, and waits for the rest."),
            Field(
                "system_pageable", \.systemPageable, .scaled(), omitted: { $0 == .zero },
                "Pages of the system's own processes that are neither wired nor compressed, a part of `reserved`: they "
                    + "count in the monitor `ios-ratio`. Needs a kernel."),
            Field(
                "system_compressed", \.systemCompressed, .scaled(), omitted: { $0 == .zero },
                "What the system's own processes take in the compressor, a part of `reserved`: it counts in the "
                    + "monitor `ios-ratio`. Needs a kernel."),
            Field(
                "freezer", \.freezer, Codec<FreezerSettings>.record.orNone("off"), omitted: { $0 == nil },
                "Moves suspended apps to flash, where they survive shortages of memory. Needs a kernel, and a "
                    + "compressor with `codec: model`. Off: no app is frozen."),
        ])
}

extension JetsamMarks: Described {
    static let definition = Definition<JetsamMarks>(
        base: JetsamMarks(),
        fields: [
            Field("critical", \.critical, .mark, "Below this, processes in any band are ended."),
            Field("idle", \.idle, .mark, "Below this, processes in band 0 are ended."),
            Field("soft", \.soft, .mark, "Below this, processes over a soft limit are ended."),
            Field(
                "reaper", \.reaper, .mark,
                "Below this, processes that have been idle for long are ended. Only kernel 11417 has this step."),
        ])
}

extension Codec where Value == Threshold? {
    /// A threshold of the device, or `none` for the one in the kernel's table.
    fileprivate static var mark: Codec { Codec<Threshold>.threshold.orNone() }
}

extension ByteRate {
    /// On a slower device, the time of a single fill could exceed the range of virtual time.
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
                "The preset gives the values of all other keys of `monitor` that are left out."),
            Field("interval", \.interval, .quantity(from: .milliseconds(1)), "The time between two samples."),
            Field("warning", \.warning, .record, "The warning level."),
            Field("critical", \.critical, .record, "The critical level."),
            Field("hold", \.hold, .quantity(), "The level falls only after a lower level has held for this long."),
            Field("warning_spacing", \.warningSpacing, .quantity(), "The time between the warnings to two apps."),
            Field(
                "warning_rest", \.warningRest, .quantity(),
                "After a round of warnings, no new round of the same level begins for this time."),
            Field(
                "warning_repeat", \.warningRepeat, .quantity(),
                "If the level still holds after this time, the apps are warned again."),
            Field(
                "warning_minimum_footprint", \.warningMinimumFootprint, .scaled(), drawn: .sizes(.zero, .mebibytes(40)),
                "Apps with a smaller footprint are not warned."),
            Field(
                "measure", \.measure, .choice("measure", "measures"),
                "The quantity that is compared with the thresholds."),
            Field(
                "debounce", \.debounce, .scaled(), drawn: .sizes(.kibibytes(4), .mebibytes(16)),
                "The value must pass a threshold by more than this, in either direction."),
            Field(
                "cool_down", \.coolDown, .quantity(),
                "After the level has fallen, it cannot rise again for this time."),
            Field(
                "end_suspended_first", \.endSuspendedFirst, .flag, drawn: .flag(80),
                "Before it warns running apps, the monitor ends suspended apps, the longest idle first, until "
                    + "the level is left. Has no effect with `measure: process`."),
            Field(
                "rise_needs_fewer_processes", \.riseNeedsFewerProcesses, .flag,
                "The level rises only if there are fewer processes than at the last sample. It may fall at any time."),
            Field(
                "missed", \.faults.missed, .quantity(), omitted: { $0 == .zero }, drawn: .shares(1, 95), chance: 6,
                "A fault: the share of samples at which the monitor does not look, as the seed decides. The level and "
                    + "the policy learn of the memory only at the next sample."),
            Field(
                "warnings_lost", \.faults.warningsLost, .quantity(), omitted: { $0 == .zero },
                drawn: .shares(1, 100), chance: 6,
                "A fault: the share of the monitor's warnings that never reach their process, as the seed decides. The "
                    + "monitor counts the process as warned."),
            Field(
                "warnings_late", \.faults.warningsLate, .quantity(to: .hours(1)), omitted: { $0 == .zero },
                drawn: .times(.milliseconds(1), .seconds(20)), chance: 6,
                "A fault: how long each of the monitor's warnings takes to reach its process. The monitor counts the "
                    + "process as warned from the start. A process that runs no code by then is not told."),
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
        }.scaling { threshold, ratio in
            guard case .bytes(let bytes) = threshold else { return threshold }
            return .bytes(bytes.scaled(by: ratio))
        }
    }
}

extension LevelThresholds: Described {
    static let definition = Definition<LevelThresholds>(
        base: MonitorSettings.ios.warning,
        fields: [
            Field(
                "enter", \.enter, .threshold,
                "The level begins beyond this value. For free memory, \"beyond\" means below it."),
            Field(
                "leave", \.leave, .threshold,
                "The level ends once the value crosses this one on its way back. For free memory: rises above it."),
        ])
}

extension Limits: Described {
    static let definition = Definition<Limits>(
        base: Limits(),
        fields: [
            Field(
                "background_processes", \.backgroundProcesses, Codec.count(0...1_000_000).orNone(),
                drawn: .numbers(0, 8),
                "How many processes may be off screen at once, including suspended ones. An app for which the user "
                    + "waits counts as on screen. The policy has to meet the limit. The policies `none` and "
                    + "`unbounded` never do."),
            Field(
                "background_memory", \.backgroundMemory, Codec.scaled().orNone(),
                "How much memory all processes off screen may hold together. The policy has to meet this limit, too."),
            Field(
                "background_time", \.backgroundTime, .quantity(), drawn: .times(.milliseconds(100), .minutes(2)),
                "How long a process may run off screen without a background mode."),
            Field(
                "terminations_per_minute", \.terminationsPerMinute, Codec.count(0...1_000_000).orNone(),
                drawn: .numbers(0, 6),
                "How many processes the policy may end within any 60 s."),
            Field(
                "minimum_stay", \.minimumStay, .quantity(), drawn: .times(.zero, .minutes(1)),
                "The policy may not end a process that was launched less than this time ago."),
            Field(
                "protected", \.protected, .list(of: .app, called: "app names", atMost: ListLimits.names),
                "Apps that the policy may never end."),
            Field(
                "protect_audible", \.protectAudible, .flag,
                "`true`: the policy must leave apps that play audio off screen alone."),
            Field(
                "protect_foreground", \.protectForeground, .flag, drawn: .flag(20),
                "`false`: the policy may also end what is on the screen, as jetsam does when nothing else is left. "
                    + "Policies that spare it themselves still do."),
            Field(
                "policy_errs", \.policyErrs, .quantity(), omitted: { $0 == .zero }, drawn: .shares(1, 100), chance: 8,
                "A fault: the share of the policy's decisions, among several candidates, in which it takes another one "
                    + "than its first choice, as the seed decides."),
        ])
}
