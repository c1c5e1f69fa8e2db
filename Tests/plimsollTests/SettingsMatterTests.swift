import Foundation
import Memory
import Metrics
import Scenario
import Simulation
import Testing

/// Every setting has a case in which another value changes the output of a run. The settings come from the schema, so a
/// new one without a case fails.
@Suite("every setting matters")
struct SettingsMatterTests {
    /// Three apps on a small phone, on the accounting backend: a warm-up, pressure, an app off screen, and an audible
    /// app.
    private static let base = """
        plimsoll: 1
        name: settings
        seed: 3
        duration: 70s
        backend: accounting
        device: { ceiling: 150MiB, reserved: 16MiB }
        monitor: { preset: brisk }
        policy: ladder
        apps:
          - name: a
            memory:
              { base: 24MiB, scene: 6MiB, cache: { size: 24MiB, rate: 4MiB/s },
                objects: { uniform: { lowest: 64B, highest: 32KiB } } }
          - name: b
            memory: { base: 20MiB, scene: 6MiB, cache: { size: 20MiB, rate: 4MiB/s } }
          - name: c
            background_modes: [audio]
            memory: { base: 12MiB, scene: 4MiB }
        user:
          - { at: 0s, launch: c }
          - { at: 5s, launch: a }
          - { at: 20s, launch: b }
          - { at: 40s, switch: a }
          - { at: 50s, switch: b }
          - { at: 60s, home: true }
        """

    /// Memory is so tight that every app off screen must end.
    private static let mortal = ["device.ceiling=90MiB", "policy=lru", "limits.protect_audible=false"]

    /// Memory is tight enough for a compressor to work.
    private static let squeezed = ["device.ceiling=120MiB", "device.swap={zram: false}"]
    /// A compressor that is zram, small and soon full.
    private static let zram = ["device.ceiling=90MiB", "device.compressor={input: 10%}", "policy=earlyoom"]
    private static let roomy = ["device.ceiling=110MiB", "device.compressor={input: 5%}", "policy=none"]
    private static let compressed = ["device.compressor={}"] + squeezed
    /// LZ4 compresses real contents.
    private static func really(_ contents: String) -> [String] {
        ["device.compressor={codec: lz4, contents: \(contents)}", "backend=jemalloc"] + squeezed
    }

    /// The memory of an iPhone.
    private static let kernel = ["device.kernel=11417"] + compressed
    private static let frozen = ["device.freezer={minimum: 1MiB, suspended_above: 0, below: 100%}"] + kernel
    /// For a while more is wired than was free.
    private static let wired = "device.wired=[{at: 10s, size: 60MiB}, {at: 20s, size: 0B}]"
    /// A device whose system has much that counts in the kernel's own ratio.
    private static let ratio = [
        "device.ceiling=400MiB", "device.reserved=310MiB", "device.kernel=11417", "device.compressor={}",
        "monitor={preset: ios-ratio}",
    ]

    /// App a uses files.
    private static let files = ["apps.a.memory.files={size: 60MiB, rate: 4MiB/s}"]
    private static let cached = ["device.file_cache={}"] + files

    /// For each dotted key: the settings that make it matter, the key itself first. `apps.*` stands for app `a`.
    private static let cases: [String: [String]] = [
        "seed": ["seed=4"],
        "duration": ["duration=65s"],
        "device.ceiling": ["device.ceiling=140MiB"],
        "device.reserved": ["device.reserved=24MiB"],
        "device.scale": ["device.scale=50%"],
        "device.cores": ["device.cores=1"],
        "device.fill_rate": ["device.fill_rate=100MiB/s"],
        "device.reclaim_rate": ["device.reclaim_rate=10MiB/s"],
        "device.termination_time": ["device.termination_time=400ms"] + mortal,
        "monitor.missed": ["monitor.missed=90%"], "monitor.warnings_lost": ["monitor.warnings_lost=100%"],
        "monitor.warnings_late": ["monitor.warnings_late=2s"],
        "limits.policy_errs": ["limits.policy_errs=100%", "policy=lru", "device.ceiling=90MiB"],
        "apps.hangs_after": ["apps.a.hangs_after=2s"],
        "apps.hangs_for": ["apps.a.hangs_after=2s", "apps.a.hangs_for=30s"],
        "apps.crashes_after": ["apps.a.crashes_after=8s"], "apps.slow_exit": ["apps.a.slow_exit=3s"] + mortal,
        "processes.slow_exit": process(largeDaemon + ", slow_exit: 3s") + mortal,
        "apps.reports": ["apps.a.reports=10%"] + mortal,
        "limits.protect_audible": ["limits.protect_audible=false", "device.ceiling=90MiB", "policy=lru"],
        "device.dirty_decay": ["device.dirty_decay=1s"],
        "device.like": ["device={like: iphone-6s}"],
        "device.app_limit": ["device.app_limit=40MiB"],
        "device.marks.critical": ["device.marks.critical=30%"] + jetsam,
        "device.marks.idle": ["device.marks.idle=60%"] + jetsam,
        "device.marks.soft": ["device.marks.soft=90%"] + softLimit,
        "device.marks.reaper": ["device.marks.reaper=90%"] + reaper,
        "scale": ["scale=50%"],
        "device.compressor": compressed,
        "device.compressor.compress_rate": ["device.compressor={compress_rate: 20MiB/s}"] + squeezed,
        "device.compressor.decompress_rate": ["device.compressor={decompress_rate: 20MiB/s}"] + squeezed,
        "device.compressor.codec": really("words"),
        "device.compressor.contents": really("words"),
        "device.compressor.page_out_rate": ["device.compressor={page_out_rate: 20MiB/s}"] + squeezed,
        "device.compressor.page_in_rate": ["device.compressor={page_in_rate: 20MiB/s}"] + squeezed,
        "device.compressor.keep_free": ["device.compressor={keep_free: 5%}"] + squeezed,
        "device.compressor.resume_share": ["device.compressor={resume_share: 90%}"] + squeezed,
        "device.compressor.pool": ["device.compressor={pool: 2%}"] + squeezed,
        "device.compressor.input": ["device.compressor={input: 5%}"] + squeezed,
        "device.compressor.threads":
            ["device.compressor={threads: 2, compress_rate: 20MiB/s}", "device.cores=4"] + squeezed,
        "device.kernel": kernel,
        "device.wired.at": ["device.wired=[{at: 12s, size: 40MiB}]"],
        "device.wired.size": ["device.wired=[{at: 10s, size: 30MiB}]"],
        "device.system_pageable": ["device.system_pageable=200MiB", "device.system_compressed=105MiB"] + ratio,
        "device.system_compressed": ["device.system_compressed=105MiB"] + ratio,
        "device.freezer": frozen,
        "device.swap.zram": ["device.swap={zram: false}", "device.reclaim=linux"] + zram,
        "device.swap.disk": ["device.swap={disk: 40MiB}"] + zram,
        "device.swap.write_rate": ["device.swap={disk: 40MiB, write_rate: 1MiB/s}"] + zram,
        "device.swap.read_rate": ["device.swap={disk: 100MiB, read_rate: 1MiB/s}"] + roomy,
        "device.swap.disk_takes": ["device.swap={disk: 100MiB, disk_takes: newest}"] + roomy,
        "device.swap.search_time": ["device.swap={search_time: 1ms}"] + zram,
        "device.swap.extra_free": ["device.swap={extra_free: 8MiB}"] + zram,
        "device.swap.compact_after": ["device.swap={compact_after: 1s}", "device.compressor={}"],
        "device.reclaim": ["device.reclaim=background"] + zram,
        "device.file_cache.system": ["device.file_cache={system: 40MiB}"] + files + squeezed,
        "device.file_cache.system_read_rate":
            ["device.file_cache={system: 60MiB, system_read_rate: 64KiB/s}", wired] + files,
        "device.file_cache": cached,
        "device.file_cache.read_rate": ["device.file_cache={read_rate: 20MiB/s}"] + files,
        "device.file_cache.keep_free": ["device.file_cache={keep_free: 60%}"] + files,
        "apps.memory.files.size": ["device.file_cache={}", "apps.a.memory.files={size: 30MiB, rate: 4MiB/s}"],
        "apps.memory.files.launch":
            ["device.file_cache={}", "apps.a.memory.files={size: 60MiB, rate: 4MiB/s, launch: 10%}"],
        "apps.memory.files.resume":
            ["device.file_cache={}", "apps.a.memory.files={size: 60MiB, rate: 4MiB/s, resume: 90%}"],
        "apps.memory.files.rate": ["device.file_cache={}", "apps.a.memory.files={size: 60MiB}"],
        "apps.memory.cache.purgeable": ["apps.a.memory.cache.purgeable=100%"] + squeezed,
        "apps.memory.hot": ["apps.a.memory.touch=40MiB/s", "apps.a.memory.hot=5%"] + compressed,
        "apps.memory.compressibility.ratio": ["apps.a.memory.compressibility.ratio=120%"] + compressed,
        "apps.memory.compressibility.repeated": ["apps.a.memory.compressibility.repeated=80%"] + compressed,
        "apps.memory.compressibility.incompressible":
            ["apps.a.memory.compressibility.incompressible=80%"] + compressed,
        "limits.background_processes": ["limits.background_processes=1"],
        "limits.background_memory": ["limits.background_memory=30MiB"],
        "limits.background_time": ["limits.background_time=500ms", "device.ceiling=1GiB"],
        "limits.terminations_per_minute": ["limits.terminations_per_minute=0"],
        "limits.minimum_stay": ["limits.minimum_stay=10min"],
        "limits.protected": ["limits.protected=[a, b, c]"],
        "metrics.perceived_within": ["metrics.perceived_within=1s"],
        "metrics.apps": ["metrics.apps=changed"],
        "apps.like": ["apps.a.like=messaging"],
        "apps.scenes.support": ["apps.a.scenes.support=false"],
        "apps.scenes.multiple": ["apps.a.scenes.multiple=true", "user.4={at: 50s, open_scene: a}"],
        "apps.background_modes": ["apps.a.background_modes=[location]"],
        "apps.memory.base": ["apps.a.memory.base=25MiB"],
        "apps.memory.footprint": ["apps.a.memory={footprint: 40MiB, scene: 6MiB}"],
        "apps.memory.scene": ["apps.a.memory.scene=7MiB"],
        "apps.memory.cache.size": ["apps.a.memory.cache.size=10MiB"],
        "apps.memory.cache.rate": ["apps.a.memory.cache.rate=1MiB/s"],
        "apps.memory.growth.rate": ["apps.a.memory.growth={rate: 1MiB/s, up_to: 30MiB}"],
        "apps.memory.growth.up_to": ["apps.a.memory.growth={rate: 1MiB/s, up_to: 28MiB}"],
        "apps.memory.leak": ["apps.a.memory.leak=100KiB/s"],
        "apps.memory.churn.rate": ["apps.a.memory.churn={rate: 1MiB/s}"],
        "apps.memory.churn.lifetime": ["apps.a.memory.churn={rate: 1MiB/s, lifetime: 4s}"],
        "apps.memory.touch": ["apps.a.memory.touch=1MiB/s"],
        "apps.memory.bursts.after": ["apps.a.memory.bursts=[{after: 3s, size: 4MiB, over: 1s}]"],
        "apps.memory.bursts.size": ["apps.a.memory.bursts=[{after: 2s, size: 5MiB, over: 1s}]"],
        "apps.memory.bursts.over": ["apps.a.memory.bursts=[{after: 2s, size: 4MiB, over: 3s}]"],
        "apps.memory.bursts.hold": ["apps.a.memory.bursts=[{after: 2s, size: 4MiB, over: 1s, hold: 2s}]"],
        "apps.memory.cache.turnover": ["apps.a.memory.cache={size: 8MiB, rate: 4MiB/s, turnover: 1MiB/s}"],
        "apps.memory.scene_growth.rate": ["apps.a.memory.scene_growth={rate: 1MiB/s, up_to: 10MiB}"],
        "apps.memory.scene_growth.up_to": ["apps.a.memory.scene_growth={rate: 1MiB/s, up_to: 8MiB}"],
        "apps.memory.saw_tooth.size": ["apps.a.memory.saw_tooth={size: 8MiB}"],
        "apps.memory.saw_tooth.period": ["apps.a.memory.saw_tooth={size: 8MiB, period: 2s}"],
        "apps.memory.read": ["apps.a.memory.read=1MiB/s"],
        "apps.background.delay": ["apps.a.background.delay=1s"],
        "apps.background.ignores": ["apps.a.background.ignores=100%"],
        "apps.disconnect.frees": ["apps.a.disconnect.frees=20%", "policy.parameters.disconnect_idle=1s"],
        "apps.disconnect.delay": ["apps.a.disconnect.delay=1s", "policy.parameters.disconnect_idle=1s"],
        "apps.disconnect.ignores": ["apps.a.disconnect.ignores=100%", "policy.parameters.disconnect_idle=1s"],
        "apps.memory.objects": ["apps.a.memory.objects={constant: 4KiB}"],
        "apps.costs.process": ["apps.a.costs.process=500ms"],
        "apps.costs.launch": ["apps.a.costs.launch=500ms"],
        "apps.costs.first_launch": ["apps.a.costs.first_launch=700ms"],
        "apps.costs.connect": ["apps.a.costs.connect=500ms"],
        "apps.costs.enter_foreground": ["apps.a.costs.enter_foreground=500ms"],
        "apps.costs.activate": ["apps.a.costs.activate=500ms"],
        "apps.costs.resign_active": ["apps.a.costs.resign_active=500ms"],
        "apps.costs.enter_background": ["apps.a.costs.enter_background=500ms"],
        "apps.costs.disconnect": ["apps.a.costs.disconnect=500ms", "policy.parameters.disconnect_idle=1s"],
        "apps.costs.terminate": ["apps.a.costs.terminate=500ms", "user.4={at: 50s, quit: a}"],
        "apps.spread.sigma": ["apps.a.spread.sigma=35%"],
        "apps.spread.except": ["apps.a.spread={sigma: 35%, except: [process]}"],
        "apps.background.frees": ["apps.a.background.frees=100%"],
        "apps.background.reloads": ["apps.a.background.reloads=100%"],
        "apps.background.work": ["apps.a.background.work=100ms", "device.ceiling=1GiB"],
        "apps.background.snapshot": ["apps.a.background.snapshot=30MiB"],
        "apps.warnings.frees": ["apps.a.warnings.frees=10%"],
        "apps.warnings.delay": ["apps.a.warnings.delay=2s"],
        "apps.warnings.ignores": ["apps.a.warnings.ignores=100%"],
        "apps.limits.active": ["apps.a.limits.active=40MiB"],
        "apps.limits.inactive": ["apps.a.limits={active: 400MiB, inactive: 10MiB}"],
        "apps.limits.fatal": ["apps.a.limits={active: 40MiB, fatal: false}"],
        "apps.limits.active_fatal": ["apps.a.limits={active: 40MiB, active_fatal: false}"],
        "apps.limits.inactive_fatal": ["apps.a.limits={inactive: 10MiB, inactive_fatal: false}"],
        "apps.deferred.work": ["apps.a.deferred={work: 3s, memory: 4MiB}"],
        "apps.deferred.memory": ["apps.a.deferred={work: 1s, memory: 8MiB}"],
        "apps.observers.of": ["apps.a.observers=[{of: UIScene.willDeactivateNotification, cost: 50ms}]"],
        "apps.observers.cost": ["apps.a.observers=[{of: UIScene.didActivateNotification, cost: 90ms}]"],
        "apps.observers.frees": ["apps.a.observers=[{of: UIScene.didActivateNotification, cost: 50ms, frees: 50%}]"],
        "apps.costs.event": ["apps.a.costs.event=500ms", "user.4={at: 50s, time_change: midnight}"],
        "apps.background.task": ["apps.a.background.task=8s"],
        "apps.background.leaks_task": ["apps.a.background.leaks_task=true"],
        "apps.background.event_work": ["apps.a.background.event_work=15s"] + refresh,
        "apps.background.modes_last": ["apps.c.background.modes_last=10s"],
        "apps.background.cpu": ["apps.c.background.cpu=96%"],
        "apps.cpu": ["apps.a.cpu=50%"],
        "apps.oom_score_adj": ["apps.a.oom_score_adj=-1000"] + linux,
        "apps.managed_oom_preference": ["apps.a.managed_oom_preference=omit"] + systemd,
        "device.cores.efficiency": ["device.cores={performance: 1, efficiency: 4}"],
        "device.cores.efficiency_speed": ["device.cores={performance: 1, efficiency: 4, efficiency_speed: 90%}"],
        "device.cores.further": ["device.cores={performance: 1, further: [{count: 2, speed: 90%}]}"],
        "device.cores.priorities": ["device.cores={performance: 1, priorities: off}", "apps.c.background.cpu=79%"],
        "apps.background.holds_file_lock": ["apps.a.background.holds_file_lock=true"],
        "apps.background.holds_protected_file": ["apps.a.background.holds_protected_file=true"],
        "metrics.duties": ["metrics.duties=true"],
        "lifecycle.scenes": ["lifecycle.scenes=false"],
        "lifecycle.restoration_saved": ["lifecycle.restoration_saved=disconnecting"],
        "lifecycle.foreground_notification_at_launch": ["lifecycle.foreground_notification_at_launch=false"],
        "lifecycle.scene_before_application": ["lifecycle.scene_before_application=false"],
        "lifecycle.state_at_launch": ["lifecycle.state_at_launch=inactive"],
        "lifecycle.protected_data_delay": ["lifecycle.protected_data_delay=2s"] + lock,
        "lifecycle.swipe_enters_background": ["lifecycle.swipe_enters_background=true"] + swipe,
        "lifecycle.snapshot_of_closed_scene": ["lifecycle.snapshot_of_closed_scene=true"] + closing,
        "lifecycle.processing_after_quit": ["lifecycle.processing_after_quit=false"] + swipe,
        "lifecycle.paused_audio_runs": ["lifecycle.paused_audio_runs=true"] + call,
        "lifecycle.idle_scenes": ["lifecycle.idle_scenes=background"] + opening,
        "lifecycle.last_window": ["lifecycle.last_window=ends"] + closingOne,
        "lifecycle.prewarmed_base": ["lifecycle.prewarmed_base=60%"] + prewarming,
        "lifecycle.refresh_interval": ["lifecycle.refresh_interval=5s"] + submitting,
        "lifecycle.transfer_delay": ["lifecycle.transfer_delay=1s"] + downloading,
        "lifecycle.live_activity_band": ["lifecycle.live_activity_band=80"] + activity,
        "lifecycle.enter_background_time": ["lifecycle.enter_background_time=1s"] + slowToLeave,
        "lifecycle.background_launch_enters_background":
            ["lifecycle.background_launch_enters_background=false"] + launchedOffScreen,
        "lifecycle.idle_scene_disconnect": ["lifecycle.idle_scene_disconnect=10s", "device.ceiling=1GiB"],
        "lifecycle.call": ["lifecycle.call=banner"] + call,
        "lifecycle.boot_time": ["lifecycle.boot_time=2s"] + restarting,
        "lifecycle.cpu_of_background_launch": ["lifecycle.cpu_of_background_launch=100ms"] + launchedOffScreen,
        "device.windows": ["device.windows=one"] + opening,
        "device.fallback": ["device.fallback=kernel-oom"] + unserved,
        "device.linux": ["device.linux=3.4", "device.fallback=kernel-oom"] + unserved,
        "device.entitled_limit": ["device.entitled_limit=60MiB", "device.app_limit=40MiB", "apps.a.entitled=true"],
        "apps.entitled": ["apps.a.entitled=true", "device.app_limit=40MiB", "device.entitled_limit=100MiB"],
        "apps.background.file_lock_time": ["apps.a.background={holds_file_lock: true, file_lock_time: 0s}"],
        "limits.protect_foreground": ["limits.protect_foreground=false"] + tight,
        "processes.oom_score_adj": process(daemon + ", oom_score_adj: 1000") + linux,
        "processes.managed_oom_preference": process(daemon + ", managed_oom_preference: omit") + systemd,
        "control_groups.processes": [grouped("processes: [a], memory_max: 50MiB")],
        "control_groups.memory_max": [grouped("processes: [a], memory_max: 50MiB")],
        "control_groups.oom_group": [grouped("processes: [a, b], oom_group: true")] + outOfPages,
        "control_groups.managed_oom_preference":
            [grouped("processes: [a], managed_oom_preference: omit")] + systemd,
        "start.process": [started("process: a")],
        "start.state": [started("process: a, state: background")],
        "start.footprint": [started("process: a, footprint: 40MiB")],
        "start.compressed": ["device.compressor={}", started("process: a, compressed: 2MiB")],
        "start.band": [started("process: a, band: 40")],
        "start.idle": [started("process: a, idle: 0s")],
        "start.scenes": ["apps.a.scenes.multiple=true", started("process: a, scenes: 2")],
    ].merging(processes) { first, _ in first }

    /// The keys of `processes`: another value, and what it is compared with.
    private static let ofProcesses: [(key: String, with: String, without: String)] = [
        ("kind", "kind: widget", daemon), ("of", "kind: helper, of: a", "kind: helper, of: b"),
        ("band", daemon + ", band: 80", daemon),
        ("entitled", daemon + ", band: 5, entitled: true", daemon + ", band: 5"),
        ("crashes_after", "kind: helper, of: a, crashes_after: 2s", "kind: helper, of: a"),
        ("reports", "kind: helper, of: a, reports: 10%", "kind: helper, of: a"),
        ("idle_exit", daemon + ", idle_exit: 3s", daemon), ("keeps_alive", daemon + ", keeps_alive: true", daemon),
        ("assertion_time", daemon + ", assertion_time: 2s", daemon),
        ("memory", daemon + ", memory: { base: 3MiB }", daemon), ("costs", daemon + ", costs: { launch: 1s }", daemon),
        ("background", daemon + ", background: { event_work: 9s }", daemon),
        ("warnings", daemon + ", warnings: { delay: 2s }, memory: { base: 8MiB }", daemon + ", memory: { base: 8MiB }"),
        ("limits", daemon + ", limits: { active: 4300KiB }", daemon),
        ("cpu", "kind: helper, of: a, cpu: 90%", "kind: helper, of: a"),
    ]
    private static let daemon = "kind: daemon"
    private static let processes = Dictionary(
        uniqueKeysWithValues: ofProcesses.map { ("processes." + $0.key, process($0.with)) })

    /// One that must go for memory.
    private static let largeDaemon = daemon + ", keeps_alive: true, memory: { base: 30MiB }"

    private static func process(_ settings: String) -> [String] {
        var sets = ["processes=[{ name: p, \(settings) }]"]
        if settings.hasPrefix(daemon) {
            sets += ["user.4={at: 30s, demand: p}", "user.5={at: 38s, hold_assertion: p, band: 100}"]
        }
        return sets
    }

    private static func started(_ entry: String) -> String {
        "start=[{ \(entry) }]"
    }

    private static func grouped(_ entry: String) -> String {
        "control_groups=[{ name: slice, \(entry) }]"
    }
    private static let outOfPages = ["policy=kernel-oom", "device.ceiling=90MiB", "limits.protect_audible=false"]

    /// The front app must end for itself, or another one ends it.
    private static let tight = ["policy=jetsam", "device.ceiling=80MiB", "limits.protect_audible=false"]

    /// Jetsam under its newest kernel.
    private static let jetsam = ["policy=jetsam", "limits.protect_audible=false"]
    /// Jetsam, and an app above a soft limit.
    private static let softLimit = jetsam + ["apps.a.limits={active: 20MiB, fatal: false}"]
    /// Jetsam with a reaper that does not wait, and so much memory that nobody else acts.
    private static let reaper = ["policy={name: jetsam, parameters: {reaper_idle: 1s}}", "device.ceiling=200MiB"]

    /// A background refresh wakes the app while its process exists.
    private static let refresh = ["apps.a.background_modes=[fetch]", "user.4={at: 50s, background_refresh: a}"]

    /// A lock that is shorter than the delay after which protected data goes.
    private static let lock = ["user.4={at: 50s, lock: 5s}"]
    /// The user swipes the app away; later it has something to process.
    private static let swipe = [
        "apps.a.background_modes=[processing]", "user.4={at: 50s, quit: a}", "user.5={at: 60s, processing: a}",
    ]
    /// The user closes the window in front.
    private static let closing = ["apps.a.scenes.multiple=true", "user.4={at: 50s, close_scene: a}"]
    /// The user closes the only window.
    private static let closingOne = ["user.4={at: 50s, close_scene: a}"]
    /// The system begins the launch of the app that the user wants next.
    private static let submitting = [
        "apps.a.background_modes=[fetch]", "apps.a.background={event_work: 10s}", "user.1={at: 3s, launch: a}",
        "user.2={at: 5s, submit_refresh: a}", "user.3={at: 6s, home: true}", "user.4={at: 9s, submit_refresh: a}",
    ]
    private static let downloading = [
        "apps.a.background={event_work: 10s}", "user.1={at: 3s, launch: a}", "user.2={at: 10s, download: a, for: 5s}",
        "user.3={at: 11s, home: true}", "user.4={at: 17s, download: a, for: 1s}",
    ]
    private static let activity = [
        "user.1={at: 3s, launch: a}", "user.2={at: 10s, live_activity: a, for: 1min}", "user.3={at: 11s, home: true}",
    ]
    private static let prewarming = ["user.1={at: 3s, prewarm: a}", "user.2={at: 20s, launch: a}"]
    /// The user opens another window.
    private static let opening = ["apps.a.scenes.multiple=true", "user.4={at: 50s, open_scene: a}"]
    /// Linux's daemon, and memory so tight that it acts.
    private static let linux = ["policy=earlyoom", "device.ceiling=90MiB", "limits.protect_audible=false"]
    /// Linux's other daemon, which acts as soon as a page is in swap.
    private static let systemd = [
        "policy={name: systemd-oomd, parameters: {used: 0%, candidate_swap: 0%}}", "device.ceiling=90MiB",
        "device.compressor={}", "limits.protect_audible=false",
    ]
    /// Nobody acts when memory is out.
    private static let unserved = ["policy=none", "device.ceiling=80MiB"]
    private static let call = ["user.4={at: 50s, interrupt: call, for: 5s}"]
    /// An app that takes its time to leave the screen.
    private static let slowToLeave = ["apps.a.costs.enter_background=2s"]
    /// The system launches an app off screen.
    private static let launchedOffScreen = [
        "apps.a.background_modes=[fetch]", "user.1={at: 5s, background_refresh: a}",
    ]
    private static let restarting = ["user.4={at: 50s, restart: 10s}"]

    /// The run to compare a case with, if not the base: the same settings without the one in question.
    private static let twins: [String: [String]] = [
        "device.marks.critical": jetsam,
        "device.marks.idle": jetsam,
        "device.marks.soft": softLimit,
        "device.marks.reaper": reaper,
        "limits.background_time": ["device.ceiling=1GiB"],
        "device.termination_time": mortal, "apps.slow_exit": mortal, "apps.reports": mortal,
        "limits.policy_errs": ["policy=lru", "device.ceiling=90MiB"], "apps.hangs_for": ["apps.a.hangs_after=2s"],
        "processes.slow_exit": process(largeDaemon) + mortal,
        "limits.protect_audible": ["device.ceiling=90MiB", "policy=lru"],
        "apps.scenes.multiple": ["user.4={at: 50s, switch: a}"],
        "apps.memory.footprint": ["apps.a.memory={base: 34MiB, scene: 6MiB}"],
        "apps.memory.growth.up_to": ["apps.a.memory.growth={rate: 1MiB/s, up_to: 30MiB}"],
        "apps.memory.churn.lifetime": ["apps.a.memory.churn={rate: 1MiB/s}"],
        "apps.memory.bursts.after": ["apps.a.memory.bursts=[{after: 2s, size: 4MiB, over: 1s}]"],
        "apps.memory.bursts.size": ["apps.a.memory.bursts=[{after: 2s, size: 4MiB, over: 1s}]"],
        "apps.memory.bursts.over": ["apps.a.memory.bursts=[{after: 2s, size: 4MiB, over: 1s}]"],
        "apps.memory.bursts.hold": ["apps.a.memory.bursts=[{after: 2s, size: 4MiB, over: 1s}]"],
        "apps.memory.cache.turnover": ["apps.a.memory.cache={size: 8MiB, rate: 4MiB/s}"],
        "apps.memory.scene_growth.up_to": ["apps.a.memory.scene_growth={rate: 1MiB/s, up_to: 10MiB}"],
        "apps.memory.saw_tooth.period": ["apps.a.memory.saw_tooth={size: 8MiB}"],
        "apps.disconnect.frees": ["policy.parameters.disconnect_idle=1s"],
        "apps.disconnect.delay": ["policy.parameters.disconnect_idle=1s"],
        "apps.disconnect.ignores": ["policy.parameters.disconnect_idle=1s"],
        "apps.costs.disconnect": ["policy.parameters.disconnect_idle=1s"],
        "apps.costs.terminate": ["user.4={at: 50s, quit: a}"],
        "apps.oom_score_adj": linux, "apps.managed_oom_preference": systemd,
        "apps.spread.except": ["apps.a.spread=35%"],
        "apps.background.work": ["device.ceiling=1GiB"],
        "apps.limits.inactive": ["apps.a.limits={active: 400MiB}"],
        "apps.limits.fatal": ["apps.a.limits={active: 40MiB}"],
        "apps.limits.active_fatal": ["apps.a.limits={active: 40MiB}"],
        "apps.limits.inactive_fatal": ["apps.a.limits={inactive: 10MiB}"],
        "device.compressor": squeezed,
        "device.compressor.compress_rate": compressed,
        "device.compressor.decompress_rate": compressed,
        "device.compressor.codec": ["device.compressor={contents: words}", "backend=jemalloc"] + squeezed,
        "device.compressor.contents": really("head"),
        "device.compressor.page_out_rate": compressed,
        "device.compressor.page_in_rate": compressed,
        "device.compressor.keep_free": compressed,
        "device.compressor.resume_share": compressed,
        "device.compressor.pool": compressed,
        "device.compressor.input": compressed,
        "device.compressor.threads": ["device.compressor={compress_rate: 20MiB/s}", "device.cores=4"] + squeezed,
        "device.kernel": compressed,
        "device.wired.at": ["device.wired=[{at: 10s, size: 40MiB}]"],
        "device.wired.size": ["device.wired=[{at: 10s, size: 40MiB}]"],
        "device.system_pageable": ["device.system_compressed=105MiB"] + ratio,
        "device.system_compressed": ratio,
        "device.freezer": kernel,
        "device.file_cache.system": cached + squeezed,
        "device.file_cache.system_read_rate": ["device.file_cache={system: 60MiB}", wired] + files,
        "device.file_cache": files,
        "device.file_cache.read_rate": cached,
        "device.file_cache.keep_free": cached,
        "apps.memory.files.size": cached,
        "apps.memory.files.launch": cached,
        "apps.memory.files.resume": cached,
        "apps.memory.files.rate": cached,
        "apps.memory.cache.purgeable": squeezed,
        "apps.memory.hot": ["apps.a.memory.touch=40MiB/s", "apps.a.memory.hot=100%"] + compressed,
        "apps.memory.compressibility.ratio": compressed,
        "apps.memory.compressibility.repeated": compressed,
        "apps.memory.compressibility.incompressible": compressed,
        "device.cores.efficiency": ["device.cores=1"],
        "device.cores.efficiency_speed": ["device.cores={performance: 1, efficiency: 4}"],
        "device.cores.further": ["device.cores=1"],
        "device.cores.priorities": ["device.cores=1", "apps.c.background.cpu=79%"],
        "apps.deferred.work": ["apps.a.deferred={work: 1s, memory: 4MiB}"],
        "apps.deferred.memory": ["apps.a.deferred={work: 1s, memory: 4MiB}"],
        "apps.observers.of": ["apps.a.observers=[{of: UIScene.didActivateNotification, cost: 50ms}]"],
        "apps.observers.cost": ["apps.a.observers=[{of: UIScene.didActivateNotification, cost: 50ms}]"],
        "apps.observers.frees": ["apps.a.observers=[{of: UIScene.didActivateNotification, cost: 50ms}]"],
        "apps.costs.event": ["user.4={at: 50s, time_change: midnight}"],
        "apps.background.event_work": refresh,
        "lifecycle.protected_data_delay": lock,
        "lifecycle.swipe_enters_background": swipe,
        "lifecycle.snapshot_of_closed_scene": closing,
        "lifecycle.processing_after_quit": swipe,
        "lifecycle.paused_audio_runs": call,
        "lifecycle.idle_scenes": opening,
        "lifecycle.last_window": closingOne,
        "lifecycle.prewarmed_base": prewarming,
        "lifecycle.refresh_interval": submitting, "lifecycle.transfer_delay": downloading,
        "lifecycle.live_activity_band": activity,
        "lifecycle.enter_background_time": slowToLeave,
        "lifecycle.background_launch_enters_background": launchedOffScreen,
        "lifecycle.idle_scene_disconnect": ["device.ceiling=1GiB"],
        "lifecycle.call": call,
        "lifecycle.boot_time": restarting,
        "lifecycle.cpu_of_background_launch": launchedOffScreen,
        "device.windows": opening,
        "device.swap.zram": ["device.reclaim=linux"] + zram, "device.swap.disk": zram,
        "device.swap.write_rate": ["device.swap={disk: 40MiB}"] + zram,
        "device.swap.read_rate": ["device.swap={disk: 100MiB}"] + roomy, "device.reclaim": zram,
        "device.swap.disk_takes": ["device.swap={disk: 100MiB}"] + roomy,
        "device.swap.search_time": zram, "device.swap.extra_free": zram,
        "device.swap.compact_after": ["device.compressor={}"],
        "device.fallback": unserved,
        "device.linux": ["device.fallback=kernel-oom"] + unserved,
        "device.entitled_limit": ["device.app_limit=40MiB", "apps.a.entitled=true"],
        "apps.entitled": ["device.app_limit=40MiB", "device.entitled_limit=100MiB"],
        "apps.background.file_lock_time": ["apps.a.background.holds_file_lock=true"],
        "limits.protect_foreground": tight,
        "processes.oom_score_adj": process(daemon) + linux,
        "processes.managed_oom_preference": process(daemon) + systemd,
        "control_groups.processes": [grouped("processes: [b], memory_max: 50MiB")],
        "control_groups.oom_group": [grouped("processes: [a, b]")] + outOfPages,
        "control_groups.managed_oom_preference": [grouped("processes: [a]")] + systemd,
        "start.state": [started("process: a")],
        "start.footprint": [started("process: a")],
        "start.compressed": ["device.compressor={}", started("process: a")],
        "start.band": [started("process: a")],
        "start.idle": [started("process: a")],
        "start.scenes": ["apps.a.scenes.multiple=true", started("process: a")],
    ].merging(ofProcesses.map { ("processes." + $0.key, process($0.without)) }) { first, _ in first }

    /// Settings that other tests cover, or that cannot leave a trace in a CSV.
    private static let elsewhere: Set<String> = [
        "apps.memory.trace",  // TraceReplayTests covers every key of it, with files.
        // Texts, and the unit of reports; JetsamExportTests cover them.
        "device.name", "device.os", "device.page",
        "device.rewrite",  // The tables are the same: JemallocDeviceTests.
        "plimsoll", "name", "description", "backend", "expect", "user", "policy", "monitor", "apps.name",
        "processes.name", "control_groups.name",
        // A permission. Without it the scenario or the run refuses what it allows.
        "apps.features",
        // ProcessKindsTests looks at what policies are shown of them.
        "start.age", "start.relaunched_after",
        // A trace needs a file; the tests of trace replays cover its settings.
        "apps.memory.trace.file", "apps.memory.trace.pace", "apps.memory.trace.over", "apps.memory.trace.copies",
        "apps.memory.trace.ends", "apps.memory.trace.last_line",
    ]

    @Test("another value changes what a run writes", arguments: cases.keys.sorted())
    func matters(key: String) throws {
        let with = try #require(Self.cases[key])
        let without = Self.twins[key] ?? []
        let compared = try without.isEmpty ? Self.plain.get() : Self.run(without)
        #expect(try Self.run(with) != compared, "\(with) changes nothing")
    }

    @Test("no setting is without a case")
    func complete() throws {
        let schema = try JSONSerialization.jsonObject(with: Data(ScenarioSchema.json().utf8))
        let leaves = Self.leaves(schema, at: [])
        #expect(leaves.count > 50)
        for leaf in leaves {
            let isElsewhere =
                Self.elsewhere.contains(leaf) || Self.elsewhere.contains(String(leaf.prefix { $0 != "." }))
            let isInside = Self.cases.keys.contains { leaf == $0 || leaf.hasPrefix($0 + ".") }
            #expect(isElsewhere || isInside, "\(leaf) has no case in which another value changes the outcome")
        }
    }

    /// The output of the unchanged base, with which most cases are compared.
    private static let plain = Result { try run([]) }

    private static func run(_ sets: [String]) throws -> [String] {
        let plan = try ScenarioLoader.load(text: base, file: "base.yaml", overrides: Overrides(sets: sets)).get()
        let memory = try plan.makeDevice()
        let sinks = RunSinks { _ in MemorySink() }
        _ = try Simulation(plan, memory: memory, sinks: sinks).run()
        return [
            sinks[RunTables.samples], sinks[RunTables.apps], sinks[RunTables.events], sinks[RunTables.launches],
            sinks[RunTables.summary],
        ].map {
            ($0 as? MemorySink)?.text ?? ""
        }
    }

    /// Every dotted key of the schema that holds a value, including keys within lists and alternatives.
    private static func leaves(_ node: Any, at path: [String]) -> Set<String> {
        guard let object = node as? [String: Any] else { return [] }
        if let properties = object["properties"] as? [String: Any] {
            return properties.reduce(into: []) { $0.formUnion(leaves($1.value, at: path + [$1.key])) }
        }
        for key in ["items"] where object[key] != nil {
            let inner = leaves(object[key] as Any, at: path)
            if !inner.isEmpty && inner != [path.joined(separator: ".")] { return inner }
        }
        for key in ["anyOf", "oneOf"] {
            guard let choices = object[key] as? [Any] else { continue }
            let inner = choices.reduce(into: Set<String>()) { $0.formUnion(leaves($1, at: path)) }
            if inner.count > 1 { return inner.subtracting([path.joined(separator: ".")]) }
        }
        return [path.joined(separator: ".")]
    }
}
