import Quantities

/// A release of Android whose lmkd `LMKD` reproduces.
///
/// Sources: lmkd.cpp of the tags named at the cases; "13:2734" in this module means line 2734 of version 13's tag.
/// Properties of the device (`ro.lmk.…`) set most figures, so a device may differ from its release.
public enum LMKDVersion: String, CaseIterable, Sendable {
    /// Android 13 (tag android-13.0.0_r83). android-14.0.0_r1 to r28 have these rules, too, but count swap as
    /// version 14 does.
    case android13 = "13"
    /// Android 14 from its second quarterly release on (tag android-14.0.0_r75): cached processes end when only the low
    /// watermark is crossed, swap that finds no room does not count as free, and thrashing is critical at three times
    /// its limit.
    case android14 = "14"
    /// Android 15 (tag android-15.0.0_r23): the kernel reports when it reclaims memory, and more properties exist.
    /// Android 16 decides alike (main of March 2025), except for kills that a vendor asks for.
    case android15 = "15"

    /// The release that a scenario gets if it names none.
    public static let standard = android13

    /// At so many times its limit thrashing is critical (13:3741, 14:3793, 15:4087).
    var criticalTimes: Int { self == .android13 ? 2 : 3 }

    /// From this score on a process may be ended if only the low watermark is crossed; above 1,000 none may
    /// (14:2854-2858, 15:2996-3000; `LOW_MEM`, which 13 does not have).
    var lowMemoryScore: Int { self == .android13 ? OomScore.highest + 1 : OomScore.previous + 1 }

    /// How many bytes of swap each byte of memory counts for that is easily available; nil: swap counts in full
    /// (13:2645, 14:1886-1891, 15:2019-2023).
    var swapCompression: Int? { self == .android13 ? nil : 1 }

    /// Whether lmkd knows what the kernel does at the moment, not only what it has scanned since the last look
    /// (15:2803-2811, 3391-3431).
    var hearsReclaim: Bool { self == .android15 }
}

/// What lmkd takes for a device: its figures by release and RAM.
struct LMKDFigures {
    /// A wait of some processes within a second that wakes it.
    let partialStall: TimeSpan
    /// In percent of the file cache.
    let thrashing: Int
    /// In percent of the limit.
    let decay: Int
    /// In percent of the file cache.
    let critical: Int
    /// See `LMKDVersion.swapCompression`.
    let swapCompression: Int?
    /// See `LMKDVersion.lowMemoryScore`.
    let lowMemoryScore: Int
    let hearsReclaim: Bool
}

extension Ratio {
    /// Whole percent, cut off: lmkd computes in them.
    var percent: Int { Int(partsPerMillion / 10_000) }
}
