import Quantities

extension Archetype {
    /// 60 MiB in all, and nothing grows.
    public static let plain = Archetype("plain", "nothing special: where an app begins that names no archetype") {
        app in
        // On a real device (iOS 14.2) the median of the footprints below 100 MB of suspended apps was 61 MB. How the
        // memory is split into base and scene is our own choice.
        app.memory.base = .mebibytes(46)
        app.memory.scene = .mebibytes(14)
        // Its costs are the defaults of the scenario's keys, not those of a kind of app: they do not vary.
        app.spread = CostSpread()
    }
}
