import Quantities
import Reclaim

/// How much more memory of the system is wired from an instant on (`device.wired`), beyond `reserved`: for example what
/// a game's graphics take. Ordered by `at`.
public struct WiredPoint: Hashable, Sendable {
    /// When, from the beginning of the run.
    public var at: TimeSpan
    /// How much is wired from then on beyond `reserved`, in bytes of the device; rounded up to whole pages.
    public var size: ByteCount

    /// So much from this instant on.
    public init(at: TimeSpan, size: ByteCount) {
        self.at = at
        self.size = size
    }
}

/// The device's freezer (`device.freezer`): it moves the pages of suspended apps to flash, where they survive shortages
/// of memory that would end the apps.
///
/// The rules are those of `FreezerRules`, where their sources stand.
public struct FreezerSettings: Hashable, Sendable {
    /// How many processes may be frozen at once (`memorystatus_frozen_processes_max`).
    public var slots = FreezerRules().slots
    /// An app with a smaller footprint is left alone, in bytes of the device.
    public var minimum = FreezerRules().minimum
    /// The freezer works while more suspended processes than this are not frozen.
    public var suspendedAbove = FreezerRules().suspendedAbove
    /// With so many thawed processes, one of them is frozen anew.
    public var refreezeAfter = FreezerRules().refreezeAfter
    /// How many processes lose their place when a day is over.
    public var demotions = FreezerRules().demotionsPerDay
    /// The freezer works while less than this share of the RAM is available (`memorystatus_freeze_threshold`: 50 %).
    public var below = Ratio.percent(50)
    /// How much may be written within a day, in bytes of compressed contents of the device; nil: any amount.
    /// A guess: XNU takes the figure from the flash controller, at most 1 GiB.
    public var budget: ByteCount? = .gibibytes(1)
    /// How fast the store takes contents. A guess: flash storage, in pieces of 256 KiB.
    public var writeRate = ByteRate(bytesPerSecond: 200 << 20)
    /// How fast the store gives contents back. A guess: flash storage, read in small pieces.
    public var readRate = ByteRate(bytesPerSecond: 400 << 20)
    /// The most contents that the store holds, in bytes of the device.
    ///
    /// Source: xnu-11417.101.15, five swap files of 128 MiB where only the freezer swaps.
    public var store = ByteCount.mebibytes(640)

    /// The freezer of an iPhone.
    public init() {}

    /// Its rules.
    public var rules: FreezerRules {
        var rules = FreezerRules()
        (rules.slots, rules.minimum, rules.suspendedAbove) = (slots, minimum, suspendedAbove)
        (rules.refreezeAfter, rules.demotionsPerDay) = (refreezeAfter, demotions)
        return rules
    }
}
