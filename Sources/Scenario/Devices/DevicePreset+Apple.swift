import Lifecycle
import Plan
import Pressure
import Quantities
import Reclaim

// Apple's devices. Limits are those of the kernel (`max_task_pmem`), a number per model and no share of RAM.
//
// "reports" are JetsamEvent reports of real devices; "SO" is the list of crash amounts of Stack Overflow 5887248; "AF"
// is a thread of Apple's developer forums.
extension DevicePreset {
    static let phones = [iPhone6s, iPhoneX, iPhoneSE2, iPhone11, iPhone13, iPhone14, iPhone15Pro]
    static let tablets = [iPadPro6, iPadPro16]

    private static let iPhone6s = AppleDevice(
        name: "iphone-6s", title: "iPhone 6s", models: "iPhone 6s, SE (1st generation)", os: "iOS 12",
        ceiling: Figure(.mebibytes(2_016), .measured, "pages of a report, 6s, iOS 9.3"), cores: (2, 0),
        reserved: Figure(.mebibytes(320), .guess, AppleDevice.scaledReserve),
        reservedWithCompressor: Figure(.mebibytes(700), .guess, "0.35 of RAM; old systems are measured less"),
        appLimit: Figure(.mebibytes(1_400), .measured, "SO: ended at 1392-1396 MB; 1450 MB on its last iOS"),
        extensions: .iOS12, marks: .upTo3GB, kernel: .xnu8792, backgroundTime: 180, freezerSlots: 0
    ).preset

    private static let iPhoneX = AppleDevice(
        name: "iphone-x", title: "iPhone X", models: "iPhone X", os: "iOS 12",
        ceiling: Figure(.mebibytes(2_785), .measured, "SO: hw.memsize"), cores: (2, 4),
        reserved: Figure(.mebibytes(450), .guess, AppleDevice.scaledReserve),
        reservedWithCompressor: Figure(.mebibytes(1_110), .guess, "0.40 of RAM; old systems are measured less"),
        appLimit: Figure(.mebibytes(1_400), .measured, "SO: ended at 1392 MB, iOS 11"),
        extensions: .iOS12, marks: .upTo3GB, kernel: .xnu8792, backgroundTime: 180
    ).preset

    private static let iPhoneSE2 = AppleDevice(
        name: "iphone-se-2", title: "iPhone SE 2", models: "iPhone SE (2nd generation)", os: "iOS 15",
        ceiling: Figure(.mebibytes(2_813), .guess, "as the XR"), cores: (2, 4),
        reserved: Figure(.mebibytes(450), .guess, AppleDevice.scaledReserve),
        reservedWithCompressor: Figure(.mebibytes(1_400), .guess, "0.50 of RAM, as the iPhone 11"),
        appLimit: Figure(.mebibytes(1_850), .guess, "as the XR (limit=1850 in a log)"),
        extensions: .iOS15.with(.share, 110, .measured, "AF 115259: 110 MB on an SE 2"), marks: .upTo3GB,
        kernel: .xnu8792
    ).preset

    private static let iPhone11 = AppleDevice(
        name: "iphone-11", title: "iPhone 11", models: "iPhone XS, XS Max, 11, 11 Pro, 11 Pro Max", os: "iOS 14",
        ceiling: Figure(.mebibytes(3_844), .measured, "SO: hw.memsize; 3765 MiB of pages in a report of iOS 14.2"),
        cores: (2, 4),
        reserved: Figure(
            .mebibytes(620), .assumption, "from the report of iOS 14.2: 3765 - 2535 of apps - 612 free and of files"),
        reservedWithCompressor: Figure(
            .mebibytes(1_940), .assumption, "from the report of iOS 14.2: 769 wired + 688 + 483 of daemons"),
        appLimit: Figure(.mebibytes(2_098), .measured, "limit=2098 in a log of an 11 Pro; SO: 2039-2068 MB"),
        extensions: .iOS14, marks: .from3To6GB, kernel: .xnu8792,
        ratio: Figure(.hundredths(266), .assumption, "from the report of iOS 14.2: 4020 MiB in 1510")
    ).preset

    private static let iPhone13 = AppleDevice(
        name: "iphone-13", title: "iPhone 13", models: "iPhone 12, 12 mini, 13, 13 mini", os: "iOS 18.4",
        ceiling: Figure(.mebibytes(3_700), .guess, "3549 MiB of pages in a report of a 12, and 2 to 4 % beside them"),
        cores: (2, 4),
        reserved: Figure(.mebibytes(590), .guess, AppleDevice.scaledReserve),
        reservedWithCompressor: Figure(.mebibytes(1_850), .guess, "0.50 of RAM, as the iPhone 11"),
        appLimit: Figure(.mebibytes(2_098), .measured, "RunningBoard log of a phone of 390x844, 2025-10-07"),
        extensions: .iOS15, marks: .from3To6GB.withReaper(.percent(18)), kernel: .xnu11417,
        ratio: Figure(.hundredths(250), .measured, "report of a 12, iOS 15.5: 2178 MiB in 874"),
        remarks: [
            DeviceFact(
                "memory of an app with the entitlement",
                Figure("2.4 GB instead of 2.1 GB (12 mini)", .reported, "allenai/OLMoE.swift #38"))
        ]
    ).preset

    private static let iPhone14 = AppleDevice(
        name: "iphone-14", title: "iPhone 14", models: "iPhone 14, 15", os: "iOS 18.5",
        ceiling: Figure(.mebibytes(5_724), .measured, "pages of a report of a 14, iOS 18.5"), cores: (2, 4),
        reserved: Figure(.mebibytes(920), .guess, AppleDevice.scaledReserve),
        reservedWithCompressor: Figure(.mebibytes(2_580), .guess, "0.45 of RAM"),
        appLimit: Figure(
            .mebibytes(3_072), .guess, "as the 12 Pro (limit=3072 in a log); 2098 MB is reported for a 14"),
        extensions: .iOS15, marks: .from3To6GB.withReaper(.percent(18)), kernel: .xnu11417
    ).preset

    private static let iPhone15Pro = AppleDevice(
        name: "iphone-15-pro", title: "iPhone 15 Pro", models: "iPhone 15 Pro, 16, 16 Pro", os: "iOS 18.5",
        ceiling: Figure(.mebibytes(7_600), .guess, "8 GB without what the system does not see"), cores: (2, 4),
        reserved: Figure(.mebibytes(1_220), .guess, AppleDevice.scaledReserve),
        reservedWithCompressor: Figure(.mebibytes(3_420), .guess, "0.45 of RAM"),
        appLimit: Figure(
            .mebibytes(3_376), .measured, "kernel logs, ActiveHard 3376: 15 Pro iOS 17.4.1, 15 Pro Max, 16 Pro"),
        entitledLimit: Figure(.mebibytes(6_144), .measured, "a kernel log that does not name its model"),
        extensions: .iPadOS26.with(.share, 180, .measured, "AF 115259: 180 MB on a 15 Pro"), marks: .above6GB,
        kernel: .xnu11417, ratio: Figure(.hundredths(280), .measured, "report of a 17 Pro, iOS 27 beta: 2.84")
    ).preset

    private static let iPadPro6 = AppleDevice(
        name: "ipad-pro-6gb", title: "iPad Pro 6 GB", models: "iPad Pro 2018 with 1 TB, iPad Pro 2020",
        os: "iPadOS 18.5",
        ceiling: Figure(.mebibytes(5_701), .measured, "hw.memsize 5,978,095,616 of an iPad8,9"), cores: (4, 4),
        reserved: Figure(.mebibytes(910), .guess, AppleDevice.scaledReserve),
        reservedWithCompressor: Figure(.mebibytes(2_560), .guess, "0.45 of RAM"),
        appLimit: Figure(.mebibytes(4_608), .measured, "GET_MEMLIMIT_PROPERTIES on an iPad8,9, iPadOS 18.5"),
        extensions: .iPadOS26, marks: .from3To6GB.withReaper(.percent(18)), kernel: .xnu11417
    ).preset

    private static let iPadPro16 = AppleDevice(
        name: "ipad-pro-16gb", title: "iPad Pro 16 GB", models: "iPad Pro M1, M2, M4 with 16 GB", os: "iPadOS 18.5",
        ceiling: Figure(.mebibytes(15_400), .guess, "16 GB without what the system does not see"), cores: (4, 4),
        reserved: Figure(.mebibytes(2_460), .guess, AppleDevice.scaledReserve),
        reservedWithCompressor: Figure(.mebibytes(5_390), .guess, "0.35 of RAM"),
        appLimit: Figure(.mebibytes(5_120), .reported, "utmapp/UTM #3982, #3168: 5082-5089 MB seen"),
        entitledLimit: Figure(.mebibytes(15_400), .reported, "AF 777370: all of RAM with app swap, as in xnu-11417"),
        extensions: .iPadOS26.with(.share, 180, .guess, "as the 15 Pro"), marks: .above6GB, kernel: .xnu11417,
        freezerSlots: 36,
        swap: Figure(.gibibytes(16), .documented, "xnu: 16 GiB for each 128 GiB of volume, at most 64"),
        remarks: [DeviceFact("compressor segments", Figure("64KiB", .documented, "xnu-11417, with app swap"))]
    ).preset
}

/// What differs between Apple's devices. The rest is the same on all of them.
private struct AppleDevice {
    let name: String
    let title: String
    let models: String
    let os: String
    let ceiling: Figure<ByteCount>
    let cores: (performance: Int, efficiency: Int)
    let reserved: Figure<ByteCount>
    let reservedWithCompressor: Figure<ByteCount>
    let appLimit: Figure<ByteCount>
    var entitledLimit: Figure<ByteCount>?
    let extensions: ExtensionLimits
    let marks: Marks
    let kernel: JetsamKernel
    /// In seconds.
    var backgroundTime: Int64 = 30
    var ratio = Figure(Ratio.hundredths(270), .measured, "the median of nine reports; they range from 1.64 to 3.87")
    var freezerSlots = 20
    var swap = Figure(ByteCount.mebibytes(640), .documented, "xnu-11417: five files of 128 MB, for frozen apps only")
    var remarks: [DeviceFact] = []

    static let scaledReserve = "0.16 of RAM, scaled from the report of an iPhone 11"

    var preset: DevicePreset {
        var layout = CoreLayout(cores.performance)
        layout.efficiency = cores.efficiency
        return DevicePreset(
            name: name, title: title, models: models, os: os, ceiling: ceiling,
            page: Figure(.large, .documented, "xnu: 16 KiB on arm64 from the A9 on"),
            cores: Figure(layout, .documented, "Apple's technical specifications, recalled"), reserved: reserved,
            reservedWithCompressor: reservedWithCompressor, appLimit: appLimit, entitledLimit: entitledLimit,
            extensionLimits: extensions.limits, marks: marks.figure(in: kernel), policy: policy,
            monitor: Figure(
                .ios, .guess, "times from xnu-11417; without a compressor, the levels enter at jetsam's thresholds"),
            backgroundTime: Figure(
                .seconds(backgroundTime), .reported,
                backgroundTime > 30 ? "AF 85066: 180 s from iOS 7 to 12" : "AF 85066: about 30 s from iOS 13 on"),
            compressor: CompressorFigures(
                ratio: ratio, holds: Figure(.percent(100), .documented, "xnu-11417: pages of one times RAM"),
                threads: threads),
            freezer: freezer, kernel: management,
            remarks: remarks + AppleDevice.common)
    }

    /// The release of XNU that runs on the device. Releases before iOS 16 were not read.
    private var release: Figure<JetsamKernel> {
        kernel == .xnu8792
            ? Figure(kernel, .guess, "xnu-8792 (iOS 16), the oldest release that was read")
            : Figure(kernel, .documented, "xnu-11417.101.15 (iOS 18.4)")
    }

    /// The policy under that release.
    private var policy: Figure<PolicySettings> {
        release.map { release in
            var settings = PolicySettings(Jetsam.self)
            settings.set("kernel", to: .choice(release.rawValue))
            return settings
        }
    }

    private var freezer: FreezerFigures {
        let isOn =
            kernel == .xnu11417
            ? Figure(true, .guess, "the kernel's default from xnu-11417 on; seen on a 12 and a 13 Pro")
            : Figure(false, .guess, "the kernel's default before xnu-11417; user space may turn it on")
        return FreezerFigures(
            isOn: isOn, slots: slots, swap: slots.value > 0 ? swap : Figure(.zero, .guess, "none found"),
            swapsApps: swap.value >= .gibibytes(16))
    }

    /// Of what is reserved a fifth of RAM is wired. The rest is that of the system's processes: what they hold, and
    /// what they take in the compressor.
    private var management: KernelFigures {
        let ram = ceiling.value
        let ofProcesses = reservedWithCompressor.value - ram * .percent(20)
        let held = (ofProcesses * Ratio(partsPerMillion: 587_532)).roundedUp(toMultipleOf: 1 << 20)
        let source = "reserved, less the 20 % of RAM that are wired in nine reports (10 to 33 %)"
        return KernelFigures(
            release: release,
            files: Figure(
                (ram * .percent(21)).roundedUp(toMultipleOf: 1 << 20), .measured,
                "0.21 of RAM, the median of nine reports; they range from 0.04 to 0.35"),
            pageable: Figure(held, .guess, "\(source), in the proportion 688 : 483 of an iPhone 11"),
            compressed: Figure(ofProcesses - held, .guess, "the rest of that"))
    }

    private var threads: Figure<Int> {
        cores.efficiency > 0 && !os.hasSuffix("OS 12")
            ? Figure(2, .documented, "xnu-7195 (iOS 14) and later, on systems with fast and slow cores")
            : Figure(1, .documented, "xnu before iOS 14, and systems with one kind of cores")
    }

    private var slots: Figure<Int> {
        freezerSlots == 0
            ? Figure(0, .guess, "none found")
            : Figure(freezerSlots, .documented, "xnu; which models freeze apps is not public")
    }

    private static let common: [DeviceFact] = [
        DeviceFact(
            "limit of CPU off screen",
            Figure("80% of a core over 60s", .measured, "several logs, iOS 13 to 26; AF 675166")),
        DeviceFact(
            "deadlines",
            Figure(
                "scene-create 20s, scene-update 10s, exit 5s", .documented,
                "Apple, Addressing watchdog terminations; logs")),
        DeviceFact("daemon without a limit of its own", Figure("6MiB", .measured, "iPad8,9, iPadOS 18.5")),
    ]
}

/// Jetsam's thresholds as shares of RAM.
private struct Marks {
    let critical, idle, soft: Int64
    var reaper: Ratio?
    let source: String

    static let upTo3GB = Marks(critical: 5, idle: 10, soft: 15, source: "up to 3 GiB of RAM, in every release")
    static let from3To6GB = Marks(critical: 4, idle: 9, soft: 15, source: "above 3 GiB, up to 6 GiB of RAM")
    static let above6GB = Marks(critical: 4, idle: 8, soft: 12, reaper: .percent(16), source: "above 6 GiB of RAM")

    func withReaper(_ share: Ratio) -> Marks {
        Marks(critical: critical, idle: idle, soft: soft, reaper: share, source: source)
    }

    func figure(in kernel: JetsamKernel) -> Figure<JetsamMarks> {
        Figure(
            JetsamMarks(
                critical: .percent(critical), idle: .percent(idle), soft: .percent(soft),
                reaper: reaper.map { .share($0) }),
            .documented, "xnu-\(kernel.rawValue), \(source); a device tree may say otherwise")
    }
}

/// The limits of extensions under one system.
private struct ExtensionLimits {
    let limits: [ExtensionLimit]

    private init(_ limits: [ExtensionLimit]) { self.limits = limits }

    private init(
        keyboard: (Int, String), widget: (Int, Confidence, String), tunnel: (Int, String)
    ) {
        func limit(
            _ kind: ProcessKind, _ size: Int, _ confidence: Confidence, _ source: String
        ) -> ExtensionLimit {
            ExtensionLimit(kind: kind, limit: Figure(.mebibytes(size), confidence, source))
        }
        limits = [
            limit(.keyboard, keyboard.0, .measured, keyboard.1),
            limit(.widget, widget.0, widget.1, widget.2),
            limit(.share, 120, .measured, "AF 115259: 120 MB on a 13"),
            limit(.packetTunnel, tunnel.0, .documented, tunnel.1),
            limit(.notificationService, 24, .measured, "AF 740332, realm-swift #8606"),
        ]
    }

    /// The same limits but one.
    func with(
        _ kind: ProcessKind, _ size: Int, _ confidence: Confidence, _ source: String
    ) -> ExtensionLimits {
        ExtensionLimits(
            limits.map { limit in
                guard limit.kind == kind else { return limit }
                return ExtensionLimit(kind: kind, limit: Figure(.mebibytes(size), confidence, source))
            })
    }

    private static let widgetKit = "logs of iOS 14.1 to 18.3.1; a 17 Pro ended one a little above 45 MB"
    private static let tunnel15 = "AF 73148, Apple's support: 15 MB from iOS 10 to 14"
    private static let tunnel50 = "AF 73148, Apple's support: 50 MB from iOS 15 on"

    static let iOS12 = ExtensionLimits(
        keyboard: (48, "iOS 8 on an iPhone 6"),
        widget: (16, .reported, "Conrad Kramer, CocoaHeads 2015: Today widgets of iOS 8 and 9"), tunnel: (15, tunnel15)
    ).with(.notificationService, 16, .reported, "an iPhone X under iOS 13; 12 MB on a 5s")
    static let iOS14 = ExtensionLimits(
        keyboard: (77, "a log of fcitx5-ios"), widget: (30, .measured, widgetKit), tunnel: (15, tunnel15))
    static let iOS15 = ExtensionLimits(
        keyboard: (77, "a log of fcitx5-ios"), widget: (30, .measured, widgetKit), tunnel: (50, tunnel50))
    static let iPadOS26 = ExtensionLimits(
        keyboard: (90, "dictus-ios #202: an iPad Pro 11, iPadOS 26"), widget: (30, .measured, widgetKit),
        tunnel: (50, tunnel50))
}

extension Ratio {
    /// A plain number in hundredths: 270 is 2.7.
    static func hundredths(_ count: Int64) -> Ratio { .percent(count) }
}

extension PolicySettings {
    /// Sets one parameter of the policy's own table.
    mutating func set(_ name: String, to value: ParameterValue) {
        guard let index = parameters.firstIndex(where: { $0.name == name }) else {
            preconditionFailure("policy \(self.name) has no parameter \(name)")
        }
        parameters[index].value = value
    }
}
