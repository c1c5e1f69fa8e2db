import Memory
import Plan
import Quantities

extension Device {
    /// The fault that makes this device impossible on any host: the key to change, and a message that says what is
    /// wrong and what is right. Nil if there is none. Whether this host has enough memory is not checked here.
    var fault: (key: String, message: String)? {
        let most = MemoryLimits.highestCompressedCeiling
        if compressor != nil, ceiling > most {
            return ("ceiling", "\(ceiling) is too large for a device with a compressor; at most \(most)")
        }
        if compressor != nil, meantCeiling > most {
            return (
                "scale",
                "at scale \(scale) the ceiling of \(ceiling) models a device of \(meantCeiling.readable); with a "
                    + "compressor the largest is \(most)"
            )
        }
        if let compressor, compressor.codec == .lz4, scale != .one {
            return ("compressor.codec", "lz4 compresses real contents, which a scale model lacks; use codec model")
        }
        switch MemoryLimits.refusal(ceiling: ceiling, reserved: reserved, scale: scale) {
        case nil: return nil
        case .ceilingTooHigh where scale == .one || ceiling > MemoryLimits.highestCeiling:
            return ("ceiling", "\(ceiling) is too large; at most \(MemoryLimits.highestCeiling)")
        case .ceilingTooHigh(let meant, let highest):
            let share = ceiling.share(of: highest)
            let least = highest * share < ceiling ? Ratio(partsPerMillion: share.partsPerMillion + 1) : share
            return (
                "scale",
                "at scale \(scale) the ceiling of \(ceiling) models a device of \(meant.readable); the largest is "
                    + "\(highest), so set a scale of \(least) or more"
            )
        case .nothingLeft where reserved >= ceiling:
            return ("reserved", "\(reserved) must be less than the ceiling, \(ceiling)")
        case .nothingLeft:
            let meant = scale == .one ? "" : " at scale \(scale)"
            return ("reserved", "\(reserved) of the ceiling, \(ceiling), leaves no whole page of 4KiB\(meant)")
        case .notMapped, .allocatorTooOld, .pageSize, .option, .allocator: return nil
        }
    }

    /// The fault in what a kernel manages, of a device that is sound otherwise; see `fault`.
    var faultOfSystem: (key: String, message: String)? {
        if kernel != nil, compressor == nil {
            return ("kernel", "XNU's memory management needs a compressor; add 'compressor: {}'")
        }
        if kernel == nil, freezer != nil { return ("freezer", "the freezer needs a kernel; add 'kernel: 11417'") }
        if freezer != nil, compressor?.codec == .lz4 {
            return ("freezer", "contents in the store are drawn; use the compressor's codec model")
        }
        for (key, size) in [("system_pageable", systemPageable), ("system_compressed", systemCompressed)]
        where kernel == nil && size > .zero {
            return (key, "only a device with a kernel counts it; add 'kernel: 11417'")
        }
        if let fault = faultOfSwap { return fault }
        let (ofProcesses, most) = (ofSystemProcesses, wired.map(\.size).max() ?? .zero)
        if ofProcesses > reserved {
            return (
                systemCompressed > .zero ? "system_compressed" : "system_pageable",
                "the system's processes have \(ofProcesses), which is more than the \(reserved) that are reserved"
            )
        }
        if most > .zero, (reserved + most).roundedUp(toMultipleOf: 4_096) >= ceiling {
            return ("wired", "\(most) beyond the reserved \(reserved) leave nothing of the ceiling, \(ceiling)")
        }
        return nil
    }

    /// The fault in Linux's swap and in how the device makes room.
    private var faultOfSwap: (key: String, message: String)? {
        if swap.zram == true, compressor == nil {
            return ("swap.zram", "zram is the device's compressor; add 'compressor: {}'")
        }
        if isZram, kernel != nil { return ("swap.zram", "a device with XNU's memory management has no zram") }
        if swap.disk > .zero {
            guard let compressor else {
                return ("swap.disk", "the disk takes what a full compressor has no room for; add 'compressor: {}'")
            }
            if kernel != nil { return ("swap.disk", "under XNU only the freezer writes to flash; use 'freezer: {}'") }
            if compressor.codec == .lz4 {
                return ("swap.disk", "contents on the disk are drawn; use the compressor's codec model")
            }
        }
        if reclaim == .linux, compressor == nil {
            return ("reclaim", "what Linux reclaims goes to the compressor; add 'compressor: {}'")
        }
        if reclaimsLikeLinux, kernel != nil {
            return ("reclaim", "a device has the memory management of XNU or of Linux, not both")
        }
        if compressor?.threads == 0, !reclaimsLikeLinux {
            return ("compressor.threads", "no thread compresses; only with 'reclaim: linux' processes do it themselves")
        }
        return nil
    }
}
