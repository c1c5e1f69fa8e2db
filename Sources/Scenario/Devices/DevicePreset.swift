import Lifecycle
import Plan
import Pressure
import Quantities
import Reclaim

/// A device by name: each figure with its source and how far to trust it.
///
/// A scenario with `device: { like: iphone-13 }` gets `deviceWithCompressor`, and where it says nothing itself,
/// `policy`, `monitor`, `backgroundTime` and `call`. Without a compressor it gets `device` instead. Its extensions
/// have the limits of the preset. The compression ratio is data: it is a property of apps.
public struct DevicePreset: Sendable {
    /// The name in scenarios: `iphone-13`.
    public let name: String
    /// What people call the device: `iPhone 13`.
    public let title: String
    /// The models that share the figures.
    public let models: String
    /// The system with its version: `iOS 18.4`.
    public let os: String

    /// All RAM that the system sees.
    public let ceiling: Figure<ByteCount>
    /// The size of a page.
    public let page: Figure<DevicePage>
    /// The cores; the speed of the slow ones is a figure of its own.
    public let cores: Figure<CoreLayout>
    /// What the system keeps for itself, on a device without a compressor, where footprints count in full.
    public let reserved: Figure<ByteCount>
    /// What the system really occupies: for a device with a compressor.
    public let reservedWithCompressor: Figure<ByteCount>
    /// The default limit of an app; nil: the system has none.
    public let appLimit: Figure<ByteCount>?
    /// The limit of an app with the entitlement for a higher one; nil: there is none, or it is not known.
    public let entitledLimit: Figure<ByteCount>?
    /// The limits of extensions.
    public let extensionLimits: [ExtensionLimit]
    /// Jetsam's thresholds; nil on other systems.
    public let marks: Figure<JetsamMarks>?
    /// The policy of the system, with parameters where they differ from the policy's defaults.
    public let policy: Figure<PolicySettings>
    /// The monitor of the system.
    public let monitor: Figure<MonitorSettings>
    /// How long an app may run off screen without a background mode.
    public let backgroundTime: Figure<TimeSpan>
    /// The compressor. The simulated device has it if the scenario asks for it (`device.compressor`).
    public let compressor: CompressorFigures
    /// The freezer and the swap space.
    public let freezer: FreezerFigures
    /// What XNU manages, on a device with a compressor; nil on other systems.
    public var kernel: KernelFigures?
    /// The release of Linux; nil on other systems.
    public var linux: Figure<LinuxKernel>?
    /// Further facts in words.
    public let remarks: [DeviceFact]

    /// Whether a scenario that names the preset has its compressor unless it says otherwise. Apple's devices have. The
    /// zram of Android and ChromeOS works by rules of its own, which are not modelled, so a scenario has to ask for it.
    public var compresses: Bool { marks != nil }

    /// The device without a compressor.
    public var device: Device {
        var device = Device(ceiling: ceiling.value, reserved: reserved.value, cores: cores.value)
        (device.like, device.name, device.os) = (name, title, os)
        (device.page, device.windows) = (page.value, windows)
        device.appLimit = appLimit?.value
        device.entitledLimit = entitledLimit?.value
        if let marks { device.marks = marks.value }
        device.linuxMemory.isOfApple = marks != nil
        if let linux { device.fallback = DeviceFallback(.kernelOOM, linux: linux.value) }
        return device
    }

    /// The same device with its compressor: what the system really occupies is reserved, and the compressor takes as
    /// much as that of the system. How well pages compress is a property of apps (`memory.compressibility`).
    public var deviceWithCompressor: Device {
        var device = device
        if let kernel {
            device.kernel = kernel.release.value
            (device.systemPageable, device.systemCompressed) = (kernel.pageable.value, kernel.compressed.value)
            device.fileCache = FileCacheSettings()
            device.fileCache?.system = kernel.files.value
            if freezer.isOn.value { device.freezer = freezerSettings }
        }
        device.reserved = reservedWithCompressor.value
        var settings = linux == nil ? CompressorSettings() : .zram
        settings.input = compressor.holds.value.share(of: ceiling.value)
        settings.threads = compressor.threads.value
        device.compressor = settings
        device.swap.extraFree = compressor.extraFree?.value ?? .zero
        device.swap.compactAfter = compressor.compactAfter?.value
        return device
    }

    /// The freezer of the device. With swap for apps, nothing limits what is written in a day.
    private var freezerSettings: FreezerSettings {
        var settings = FreezerSettings()
        (settings.slots, settings.store) = (freezer.slots.value, freezer.swap.value)
        if freezer.swapsApps { settings.budget = nil }
        return settings
    }

    /// A plan on this device, under its policy and monitor.
    ///
    /// - Parameter managesMemory: Whether the device has its kernel's management of memory; only devices with a
    ///   `kernel` can. If not, the policy knows the release by its own parameter, and levels are those of available
    ///   memory.
    public func applied(to plan: RunPlan, managesMemory: Bool = false) -> RunPlan {
        var plan = plan
        (plan.device, plan.policy, plan.monitor) = (device, policy.value, monitor.value)
        if managesMemory {
            (plan.device, plan.policy, plan.monitor) = (deviceWithCompressor, PolicySettings(Jetsam.self), .iosRatio)
        }
        plan.limits.backgroundTime = backgroundTime.value
        plan.lifecycle.call = call
        return plan
    }

    /// An iPhone shows one window of an app. Source: UIKit's reference of `UIApplication.supportsMultipleScenes`.
    private var windows: DeviceWindows { DevicePreset.phones.contains { $0.name == name } ? .one : .many }

    /// What a call does to the app in front: from iOS 14 on it is a banner. Of other systems nothing was found.
    public var call: CallPresentation {
        guard os.hasPrefix("iOS ") || os.hasPrefix("iPadOS "), let version = os.split(separator: " ").last,
            let major = version.split(separator: ".").first.flatMap({ Int($0) })
        else { return .covers }
        return major >= 14 ? .banner : .covers
    }

    /// The preset with this name; nil if there is none.
    public static func named(_ name: String) -> DevicePreset? { all.first { $0.name == name } }

    /// All presets, in the order in which they are listed.
    public static let all: [DevicePreset] = phones + tablets + others
}

/// A fatal limit of one kind of extension on a device. A process of that kind in `processes` has it, unless its
/// scenario states `limits.active`. Kinds that a device does not list have `ProcessKind.limit`.
public struct ExtensionLimit: Sendable {
    public let kind: ProcessKind
    public let limit: Figure<ByteCount>
}

extension RunPlan {
    /// Extensions that state no limit of their own have that of the device that the scenario names. The sizes of their
    /// kinds' profiles fit the limits of new phones. Where the limit is lower, what the scenario leaves out of `memory`
    /// is as much smaller: a guess, after people who make an extension for the phones that they have.
    ///
    /// - Parameter elements: The entries of `processes`.
    mutating func takeExtensionLimits(_ elements: [Tree]) {
        let limits = device.like.flatMap(DevicePreset.named)?.extensionLimits ?? []
        guard elements.count == parts.count else { return }
        for (index, element) in zip(ownApps.count..., elements) where element["limits"]?["active"] == nil {
            guard let known = limits.first(where: { $0.kind == apps[index].part?.kind }) else { continue }
            apps[index].limits.active = known.limit.value
            guard let usual = known.kind.limit, known.limit.value < usual else { continue }
            let (share, memory) = (known.limit.value.share(of: usual), element["memory"])
            let (base, cache) = (apps[index].memory.base, apps[index].memory.cache.size)
            if memory?["base"] == nil && memory?["footprint"] == nil { apps[index].memory.base = base * share }
            if memory?["cache"] == nil { apps[index].memory.cache.size = cache * share }
        }
    }
}

/// A memory compressor: Apple's, or zram on Android and ChromeOS.
public struct CompressorFigures: Sendable {
    /// How many bytes of pages become one byte, times one.
    public let ratio: Figure<Ratio>
    /// The most uncompressed pages that it may hold, or the size of zram: a share of RAM or a size.
    public let holds: Figure<Threshold>
    /// How many threads compress.
    public let threads: Figure<Int>
    /// What Android adds to Linux's watermarks of free memory; nil on other systems.
    public var extraFree: Figure<ByteCount>?
    /// How long a process is suspended until Android compresses it whole; nil where that does not happen.
    public var compactAfter: Figure<TimeSpan>?
}

/// What XNU manages, and what the system itself has in memory.
public struct KernelFigures: Sendable {
    /// The release.
    public let release: Figure<JetsamKernel>
    /// The system's own files in memory, as long as there is room for them.
    public let files: Figure<ByteCount>
    /// What the system's own processes hold and may lose, a part of `reservedWithCompressor`.
    public let pageable: Figure<ByteCount>
    /// What they take in the compressor, another part of it.
    public let compressed: Figure<ByteCount>
}

/// What a system does with suspended apps beyond compressing them.
public struct FreezerFigures: Sendable {
    /// Whether the system freezes apps.
    public var isOn = Figure(false, .documented, "no system but XNU freezes apps to flash")
    /// How many processes may be frozen to flash.
    public let slots: Figure<Int>
    /// The swap space on flash; zero: none.
    public let swap: Figure<ByteCount>
    /// Whether pages of any app may be swapped, not only those of frozen ones.
    public var swapsApps = false
}

/// A fact about a device in words, for lists.
public struct DeviceFact: Sendable {
    /// The key of the scenario that has the value, or a name in words where there is no key.
    public let name: String
    /// The value as a scenario writes it, or in words.
    public let value: String
    public let confidence: Confidence
    /// Where the value comes from.
    public let source: String
    /// Whether `name` is a key of scenarios.
    public let isKey: Bool

    init(_ name: String, _ figure: Figure<String>, isKey: Bool = false) {
        (self.name, self.isKey) = (name, isKey)
        (value, confidence, source) = (figure.value, figure.confidence, figure.source)
    }
}

extension DevicePreset {
    /// Every figure of the device: those that keys of a scenario take, then the rest.
    public var facts: [DeviceFact] { keyFacts + dataFacts + remarks }

    private var keyFacts: [DeviceFact] {
        func key(_ name: String, _ figure: Figure<String>) -> DeviceFact { DeviceFact(name, figure, isKey: true) }
        var facts = [
            key("device.ceiling", ceiling.map { "\($0)" }),
            key("device.page", page.map { $0.rawValue }),
            key("device.cores", cores.map { $0.words }),
            key("device.reserved", (compresses ? reservedWithCompressor : reserved).map { "\($0)" }),
        ]
        if cores.value.count > cores.value.performance {
            facts.insert(
                key(
                    "device.cores.efficiency_speed",
                    Figure("\(cores.value.efficiencySpeed)", .guess, "half the units, about a third of the clock")),
                at: 3)
        }
        if let appLimit {
            facts.append(key("device.app_limit", appLimit.map { "\($0)" }))
            let near = device.standardLimit?.nearShare ?? .one
            facts.append(
                DeviceFact(
                    "warning before the app limit",
                    Figure("at \(near) of it", .documented, "limit - 100 MB: xnu-11417 osfmk/kern/task.c task_init")))
        }
        if let entitledLimit {
            facts.append(key("device.entitled_limit", entitledLimit.map { "\($0)" }))
        }
        if let marks {
            for (name, mark) in marks.value.named {
                facts.append(
                    key(
                        "device.marks.\(name)",
                        marks.map { _ in "\(mark) (\(mark.bytes(of: ceiling.value).readable))" }))
            }
        }
        if let kernel {
            facts += [
                key("device.kernel", kernel.release.map { $0.rawValue }),
                key("device.file_cache.system", kernel.files.map { "\($0)" }),
                key("device.system_pageable", kernel.pageable.map { "\($0)" }),
                key("device.system_compressed", kernel.compressed.map { "\($0)" }),
                key("device.freezer", freezer.isOn.map { $0 ? "on" : "off" }),
            ]
        }
        if let linux {
            facts.append(
                key("device.fallback", Figure("\(device.fallback.rule.rawValue)", .documented, "Linux, mm/oom_kill.c")))
            facts.append(key("device.linux", linux.map { $0.rawValue }))
        }
        facts.append(key("policy", policy.map { kernel == nil ? $0.words : $0.name }))
        facts.append(key("monitor.preset", kernel == nil ? monitor.map { $0.preset } : DevicePreset.ratio))
        if monitor.value.warningMinimumFootprint > .zero {
            let bytes = monitor.value.warningMinimumFootprint
            facts.append(
                key("monitor.warning_minimum_footprint", Figure("\(bytes)", .documented, "xnu-11417: 6 MB")))
        }
        facts.append(key("limits.background_time", backgroundTime.map { "\($0)" }))
        if windows == .one {
            facts.append(
                key("device.windows", Figure("one", .documented, "UIApplication.supportsMultipleScenes: false")))
        }
        if call == .banner {
            facts.append(key("lifecycle.call", Figure("banner", .guess, "iOS 14 and later, by experience")))
        }
        return facts
    }

    private static let ratio = Figure(
        MonitorSettings.iosRatio.preset, .documented,
        "xnu-11417 vm_pageout.c: what is compressed of all that is not wired")

    private var dataFacts: [DeviceFact] {
        var facts = extensionLimits.map { limit in
            let kind = limit.kind.rawValue.replacing("-", with: " ")
            return DeviceFact("limit of a \(kind) extension", limit.limit.map { "\($0)" })
        }
        facts.append(
            compresses
                ? DeviceFact("reserved without a compressor", reserved.map { "\($0)" })
                : DeviceFact("reserved with a compressor", reservedWithCompressor.map { "\($0)" }))
        facts.append(
            DeviceFact(
                "compressor ratio", compressor.ratio.map { "\(decimalText($0.partsPerMillion, digits: 6)) : 1" }))
        facts.append(DeviceFact("compressor holds up to", compressor.holds.map { "\($0)" }))
        facts.append(DeviceFact("compressor threads", compressor.threads.map { "\($0)" }))
        if let extra = compressor.extraFree {
            facts.append(DeviceFact("device.swap.extra_free with a compressor", extra.map { "\($0)" }))
        }
        if let delay = compressor.compactAfter {
            facts.append(DeviceFact("device.swap.compact_after with a compressor", delay.map { "\($0)" }))
        }
        facts.append(DeviceFact("freezer slots", freezer.slots.map { "\($0)" }))
        facts.append(DeviceFact("swap on flash", freezer.swap.map { $0 == .zero ? "none" : "\($0)" }))
        return facts
    }
}

extension JetsamMarks {
    /// The marks that are set, with the names of their keys.
    fileprivate var named: [(String, Threshold)] {
        [("critical", critical), ("idle", idle), ("soft", soft), ("reaper", reaper)].compactMap { name, mark in
            mark.map { (name, $0) }
        }
    }
}

extension CoreLayout {
    /// As a scenario writes it, on one line.
    fileprivate var words: String {
        if count == performance { return "\(performance)" }
        var parts = ["performance: \(performance)", "efficiency: \(efficiency)"]
        if !further.isEmpty {
            let clusters = further.map { "{ count: \($0.count), speed: \($0.speed) }" }
            parts.append("further: [\(clusters.joined(separator: ", "))]")
        }
        return "{ \(parts.joined(separator: ", ")) }"
    }
}

extension PolicySettings {
    /// The policy with the parameters that differ from its defaults, or its rules by name.
    fileprivate var words: String {
        if !rules.isEmpty { return "\(title): the rules \(rules.map(\.name).joined(separator: ", "))" }
        let standard = PolicyCatalogue.type(named: name).map { PolicySettings($0) }
        let own = parameters.filter { standard?.parameters.contains($0) == false }
        return own.isEmpty ? name : "\(name) (\(own.map { "\($0.name): \($0.value)" }.joined(separator: ", ")))"
    }
}
