import Quantities

extension Archetype {
    /// The base of every archetype: what ordinary apps have in common.
    ///
    /// A cold launch takes about 1.2 s, 94 % of it process creation and launch; a hot one about 75 ms at most. Process
    /// and launch are 1,125 ms of 1,200 ms here. A hot launch is 55 ms, to which waiting and refilled caches are added.
    /// How the 1,125 ms are split between process and launch is our own choice.
    /// These times are medians; `CostSpread.ofArchetypes` says how much they vary.
    static let blank: AppProfile = {
        var app = AppProfile(
            name: "", like: "", scenes: SceneSupport(support: true, multiple: false), backgroundModes: [],
            memory: MemoryProfile(base: .zero, scene: .zero),
            costs: CallbackCosts(
                process: .milliseconds(790), launch: .milliseconds(335), firstLaunch: .milliseconds(250),
                connect: .milliseconds(20), enterForeground: .milliseconds(32), activate: .milliseconds(23)),
            background: BackgroundDiscipline(), warnings: WarningDiscipline(), limits: ProcessLimits())
        app.spread = .ofArchetypes
        return app
    }()
}

extension ByteRate {
    static func kibibytesPerSecond(_ count: Int) -> ByteRate { ByteRate(bytesPerSecond: count << 10) }
    static func mebibytesPerSecond(_ count: Int) -> ByteRate { ByteRate(bytesPerSecond: count << 20) }
}
