/// What a device has of Linux's memory management. Any device has some of it: a policy of Linux's may run on it.
public struct LinuxMemory: Hashable, Sendable {
    /// What ends a process when an allocation finds nothing and the policy frees nothing.
    public var fallback = DeviceFallback()
    /// What of the compressor and of a disk counts as swap.
    public var swap = SwapSettings()
    /// Who makes room, and which time is lost to it; nil: as the device is (`Device.reclaimByDefault`).
    public var reclaim: PageReclaim?
    /// Whether the device is one of Apple's by name, whose compressor is no swap unless the scenario says so.
    public var isOfApple = false

    /// What a device has that says nothing of it.
    public init() {}
}

extension Device {
    /// See `LinuxMemory`.
    public var fallback: DeviceFallback {
        get { linuxMemory.fallback }
        set { linuxMemory.fallback = newValue }
    }

    /// See `LinuxMemory`.
    public var swap: SwapSettings {
        get { linuxMemory.swap }
        set { linuxMemory.swap = newValue }
    }

    /// See `LinuxMemory`.
    public var reclaim: PageReclaim? {
        get { linuxMemory.reclaim }
        set { linuxMemory.reclaim = newValue }
    }
}
