import Plan
import Quantities

extension Sizing {
    /// The footprints of a search, at equal distances in whole multiples of 4 MiB, about 64 of them. Those of other
    /// processes than apps lie nearer together.
    ///
    /// - Parameters:
    ///   - given: The range of the search; nil: a quarter to twice the app's own footprint.
    ///   - plan: The scenario. By default no footprint exceeds what the app alone may have of its device.
    ///   - app: The app's place in the plan.
    /// - Returns: Rising sizes; none if the range has no more than one.
    public func row(_ given: ClosedRange<ByteCount>?, in plan: RunPlan, of app: Int) -> [ByteCount] {
        let (device, isApp) = (plan.device, plan.apps[app].part == nil)
        let unit = isApp || present >= .mebibytes(128) ? 4 << 20 : present >= .mebibytes(16) ? 1 << 20 : 1 << 18
        // Above this, the app alone would fill the device. With a compressor it may hold more than it has frames.
        let most = (device.compressor == nil ? device.ceiling - device.reserved : device.ceiling).bytes
        let low = given?.lowerBound.bytes ?? max(unit, present.bytes / 4 / unit * unit)
        let high = given?.upperBound.bytes ?? min(most, present.bytes * 2).roundedDown(to: unit)
        guard low < high else { return [] }
        let step = max(unit, ((high - low) / 64 + unit - 1).roundedDown(to: unit))
        return stride(from: low, through: high, by: step).map { ByteCount($0) }
    }
}

extension Int {
    fileprivate func roundedDown(to unit: Int) -> Int { self / unit * unit }
}
