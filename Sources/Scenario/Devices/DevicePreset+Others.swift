import Plan
import Pressure
import Quantities
import Reclaim

// Devices with Android and ChromeOS. "CAO" is AOSP's CachedAppOptimizer.java, "CROS" chromiumos-platform2 3050786c35.
extension DevicePreset {
    static let others = [pixel6, androidGo, chromebook]

    private static let pixel6 = DevicePreset(
        name: "pixel-6", title: "Pixel 6", models: "Pixel 6", os: "Android 14",
        ceiling: Figure(.mebibytes(7_600), .guess, "8 GB without what the system does not see"),
        page: Figure(.small, .documented, "Android 14 on arm64"),
        cores: Figure(pixelCores, .documented, "2 Cortex-X1, 2 A76, 4 A55; the speed of the middle ones is a guess"),
        reserved: Figure(.mebibytes(1_200), .guess, "0.16 of RAM, as on Apple's devices"),
        reservedWithCompressor: Figure(.mebibytes(2_800), .guess, "nothing was found"), appLimit: nil,
        entitledLimit: nil, extensionLimits: [], marks: nil, policy: pixelPolicy,
        monitor: Figure(.android, .documented, "AOSP lmkd android-13, AppProfiler of android-12"),
        backgroundTime: Figure(
            .seconds(10), .documented, "CAO: the freezer's delay from Android 14 on; a frozen app counts as suspended"),
        compressor: CompressorFigures(
            ratio: Figure(.hundredths(280), .guess, "zram with LZ4 or LZO: 2.5 to 3"),
            holds: Figure(.bytes(.gibibytes(3)), .guess, "Pixel's device.mk: 2 to 6 GB by product"),
            threads: kswapd,
            extraFree: Figure(
                .kibibytes(30_375), .documented, "AOSP ProcessList.java: three screens, here of 1080 by 2400 pixels"),
            compactAfter: Figure(.seconds(10), .guess, "CAO compacts what it freezes; that a Pixel does is a guess")),
        freezer: cachedFreezer,
        linux: Figure(.linux5x10, .documented, "Android's kernel branches: raviole has 5.10 under Android 14"),
        remarks: [
            heap("256 to 512MB", .guess, "nothing was found"),
            DeviceFact(
                "stalls that lmkd acts on",
                Figure("70ms of some, 700ms of all processes in 1s", .documented, "AOSP lmkd.cpp")),
        ])

    private static let androidGo = DevicePreset(
        name: "android-go-2gb", title: "Android Go 2 GB", models: "a phone with 2 GB and Android Go", os: "Android 13",
        ceiling: Figure(.mebibytes(1_850), .guess, "2 GB without what the system does not see"),
        page: Figure(.small, .documented, "Android 13 on arm"),
        cores: Figure(8, .guess, "eight small cores are usual"),
        reserved: Figure(.mebibytes(450), .guess, "nothing was found"),
        reservedWithCompressor: Figure(.mebibytes(900), .guess, "nothing was found"), appLimit: nil,
        entitledLimit: nil, extensionLimits: [], marks: nil, policy: goPolicy,
        monitor: Figure(.android, .documented, "AOSP lmkd android-13, AppProfiler of android-12"),
        backgroundTime: Figure(
            .minutes(10), .documented, "CAO: the freezer's delay up to Android 13; a frozen app counts as suspended"),
        compressor: CompressorFigures(
            ratio: Figure(.hundredths(280), .guess, "zram with LZ4 or LZO: 2.5 to 3"),
            holds: Figure(.percent(75), .documented, "fstab of Go images"),
            threads: kswapd),
        freezer: cachedFreezer,
        linux: Figure(.linux5x4, .guess, "Android 13 runs on 5.4, 5.10 and 5.15"),
        remarks: [
            heap("256MB, with a growth limit of 128MB", .documented, "go_defaults_common.prop"),
            DeviceFact(
                "stalls that lmkd acts on",
                Figure("200ms of some, 700ms of all processes in 1s", .documented, "AOSP lmkd.cpp, low_ram")),
        ])

    private static let chromebook = DevicePreset(
        name: "chromebook-4gb", title: "Chromebook 4 GB", models: "a Chromebook with 4 GB", os: "ChromeOS M126",
        ceiling: Figure(.mebibytes(3_850), .guess, "4 GB without what the system does not see"),
        page: Figure(.small, .documented, "ChromeOS on x86-64 and arm64"),
        cores: Figure(4, .guess, "four equal cores are usual"),
        reserved: Figure(.mebibytes(700), .guess, "nothing was found"),
        reservedWithCompressor: Figure(.mebibytes(1_300), .guess, "nothing was found"), appLimit: nil,
        entitledLimit: nil, extensionLimits: [], marks: nil,
        policy: Figure(chromeOSPolicy, .documented, "CROS resourced: below 5.2 % of RAM; the rest is ours"),
        monitor: Figure(.chromeOS, .documented, "CROS resourced: moderate below 40 %, critical below 5.2 %"),
        backgroundTime: Figure(.seconds(30), .guess, "nothing was found; the default of scenarios"),
        compressor: CompressorFigures(
            ratio: Figure(.hundredths(270), .guess, "as on other devices"),
            holds: Figure(.percent(200), .documented, "CROS swap_tool.cc: zram of twice the RAM"),
            threads: kswapd),
        freezer: FreezerFigures(
            slots: Figure(0, .documented, "ChromeOS freezes no tab to flash"),
            swap: Figure(.zero, .documented, "CROS: zram only")),
        linux: Figure(.linux5x15, .guess, "ChromeOS M126 runs on 5.4 to 6.6 by board"),
        remarks: [])

    private static let kswapd = Figure(1, Confidence.documented, "Linux: kswapd, one thread for each memory node")

    private static let cachedFreezer = FreezerFigures(
        slots: Figure(0, .documented, "the freezer of cached apps keeps their pages in RAM"),
        swap: Figure(.zero, .guess, "writing zram back to flash begins after a day"))

    private static func heap(_ text: String, _ confidence: Confidence, _ source: String) -> DeviceFact {
        DeviceFact("limit of an app's Java heap", Figure(text, confidence, source))
    }

    private static let pixelCores: CoreLayout = {
        var cores = CoreLayout(2)
        cores.efficiency = 4
        cores.further = [CoreLayout.Cluster(count: 2, speed: .percent(60))]
        return cores
    }()

    private static let pixelPolicy: Figure<PolicySettings> = {
        var settings = PolicySettings(LMKD.self)
        settings.set("version", to: .choice(LMKDVersion.android14.rawValue))
        settings.set("stall_limit_critical", to: .ratio(.percent(40)))
        settings.set("filecache_min", to: .bytes(.mebibytes(150)))
        return Figure(settings, .documented, "AOSP lmkd android-14, Pixel's device.mk; the watermarks are ours")
    }()

    private static let goPolicy = Figure(
        PolicySettings(LMKD.self), .documented, "AOSP lmkd android-13, its values for low_ram; the watermarks are ours")

    /// Tabs are discarded below the critical margin, the longest unseen first and none that plays audio.
    private static let chromeOSPolicy: PolicySettings = {
        var settings = PolicySettings(name: Ladder.name, label: "chromeos-tabs")
        let isSilent = RuleCondition.claim(ProcessClaim(.mode, .notEqual, .word("audio")))
        let margin = Ratio(partsPerMillion: 52_000)
        settings.rules = [
            LadderRule(
                name: "discard", when: .claim(SystemClaim(.available, .below, .share(margin), for: .zero)),
                who: isSilent, take: .count(1), coolDown: .seconds(1)),
            LadderRule(
                name: "in-need", when: .claim(SystemClaim(.demand, .equal, .word("allocation"), for: .zero)),
                who: isSilent),
        ]
        return settings
    }()
}
