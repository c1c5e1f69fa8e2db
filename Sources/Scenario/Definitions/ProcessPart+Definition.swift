import Lifecycle
import Plan
import Quantities
import Reclaim
import Workload

extension AppProfile {
    /// What a process is that is no app, for the keys of `processes`.
    fileprivate var life: ProcessPart {
        get { part ?? ProcessPart(.helper) }
        set { part = newValue }
    }

    /// An entry of `processes`: its kind's profile with the scenario's keys applied to it.
    static let definitionOfPart = Definition<AppProfile>(
        base: AppProfile.part(.helper),
        start: { tree, _ in AppProfile.part(tree["kind"]?.text.flatMap(ProcessKind.init) ?? .helper) },
        fields: [
            Field(
                "name", \.name, .name, required: true,
                "The process's name: unique among apps and processes, and used by every other key."),
            Field(
                "kind", \.life.kind, .choice("kind of process", "kinds of processes"), required: true,
                "What the process is. The kind gives the values of the keys that are left out, and an extension's "
                    + "fatal limit."),
            Field(
                "of", \.life.host, Codec.app.orNone(),
                "The app that a helper or an extension belongs to. A helper starts and ends with its app."),
            Field(
                "band", \.life.band, .count(0...999),
                "A daemon's jetsam band while it works. Once it is idle, it falls to 10 for 10 s, then to 0."),
            Field(
                "entitled", \.life.isEntitled, .flag,
                "Whether a daemon may be in bands 1 to 9; without the entitlement they become 0."),
            Field(
                "idle_exit", \.life.idleExit, Codec.quantity().orNone(), drawn: .times(.zero, .minutes(1)),
                "The process ends by itself after it was idle for this time. `none`: it stays until it is ended."),
            Field(
                "keeps_alive", \.life.keepsAlive, .flag, drawn: .flag(70),
                "Whether the process starts with the run, and again 10 s after each of its ends."),
            Field(
                "assertion_time", \.life.assertionTime, Codec.quantity().orNone(),
                drawn: .times(.seconds(1), .minutes(1)),
                "How long a daemon may hold an assertion before the system takes it away. `none`: for ever."),
            Field("memory", \.memory, .record, "How much memory the process uses, and when."),
            Field("costs", \.costs, .record, "How long its start (`process`, `launch`) and each `event` take."),
            Field("background", \.background, .record, "What it does off screen: `event_work`, `work`, `cpu`."),
            Field("warnings", \.warnings, .record, "How the process answers a memory warning."),
            Field("limits", \.limits, .record, "Limits on its footprint, as iOS's jetsam has them."),
            Field(
                "cpu", \.cpu, .quantity(to: .mostCores), drawn: .shares(0, 60),
                "The share of a core that it uses on the screen, beside the app's frames."),
            Field(
                "oom_score_adj", \.oomScoreAdj, Codec.count(LinuxScore.adjustments).orNone(),
                "Linux's setting for the process, as that of an app. `none`: it follows from what the process does."),
            Field(
                "managed_oom_preference", \.managedOOMPreference, .choice("preference", "preferences"),
                omitted: { $0 == .none }, chance: 12,
                "systemd's setting for the process, as that of an app."),
            Field(
                "crashes_after", \.faults.crashesAfter, Codec.quantity(from: .milliseconds(1)).orNone(),
                omitted: { $0 == nil }, drawn: .times(.seconds(1), .minutes(5)), chance: 5,
                "A fault: the mean time to its crash, as that of an app."),
            Field(
                "slow_exit", \.faults.slowExit, .quantity(to: .hours(1)), omitted: { $0 == .zero },
                drawn: .times(.milliseconds(1), .seconds(20)), chance: 5,
                "A fault: how long it refuses to die, as that of an app."),
            Field(
                "reports", \.faults.reports, .quantity(to: .percent(1_000)), omitted: { $0 == .one },
                drawn: .shares(0, 200), chance: 5,
                "A fault: the share of its memory that it reports, as that of an app."),
        ])
}
