import Plan
import Quantities
import Scenario
import Workload

/// The higher limit that an app gets from its device only with an entitlement.
public struct Entitlement: Hashable, Sendable {
    /// The app's limit with the entitlement.
    public let limit: ByteCount
    /// The limit of an app without it.
    public let standard: ByteCount

    /// The entitlement that an app of this footprint needs on the device. Nil if it needs none, has a limit of its own,
    /// or cannot have a higher one.
    public init?(of app: AppProfile, at footprint: ByteCount, on device: Device) {
        guard app.part == nil, !app.isEntitled, app.limits.active == nil, let standard = device.appLimit,
            footprint * device.scale > standard, let limit = device.entitledLimit, limit > standard
        else { return nil }
        (self.limit, self.standard) = (limit, standard)
    }
}

extension Sizing {
    /// The footprints that can be asked about: up to the usual most, or up to the highest limit that the app can have.
    /// Processes that are no apps may be as small as 1 MiB.
    public static func range(
        of app: AppProfile, on device: Device, usual: ClosedRange<ByteCount>
    ) -> ClosedRange<ByteCount> {
        let limit = app.limits.active ?? device.entitledLimit ?? device.appLimit ?? device.ceiling
        let lowest = app.part == nil ? usual.lowerBound : .mebibytes(1)
        return lowest...max(usual.upperBound, limit.unscaled(by: device.scale))
    }
}
