import Quantities

extension Archetype {
    /// 60 MiB in all, and nothing grows.
    public static let plain = Archetype("plain", "nothing special: where an app begins that names no archetype") {
        app in
        // 61 MB is the median of the suspended footprints below 100 MB of a real device (iOS 14.2); the split is ours.
        app.memory.base = .mebibytes(46)
        app.memory.scene = .mebibytes(14)
    }
}
