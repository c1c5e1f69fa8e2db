import Plan
import Quantities

extension StartedProcess: Described {
    /// A process that is alive when the run begins.
    static let definition = Definition<StartedProcess>(
        base: StartedProcess(AppID(0)),
        fields: [
            Field("process", \.process, .app, required: true, "The app, or the process of `processes`, that is alive."),
            Field(
                "state", \.state, .choice("state", "states"),
                "`front`: on the screen. `background`: running off screen. `suspended`: in memory without running "
                    + "code; of a daemon: idle. `prewarmed`: an app whose launch the system has begun, and no more."),
            Field(
                "footprint", \.footprint, Codec.scaled().orNone(),
                "What the process holds. `none`: its `memory.base`, and `memory.scene` for each scene, or its "
                    + "`memory.footprint`, and `memory.scene` for each scene but the first; of a prewarmed one "
                    + "`lifecycle.prewarmed_base` of its base."),
            Field(
                "compressed", \.compressed, .scaled(),
                "The part of the footprint that is compressed, the oldest pages; needs `device.compressor`."),
            Field(
                "band", \.band, Codec.count(0...999).orNone(),
                "Its jetsam band until its state changes; 1 to 9 become 0, unless it is a daemon with `entitled: "
                    + "true`. `none`: the band that follows from its state."),
            Field("age", \.age, .quantity(), "How long ago it was launched; at least `idle`."),
            Field(
                "idle", \.idle, .quantity(),
                "How long ago it was last in front, or last worked. Jetsam's order within a band follows from it."),
            Field("scenes", \.scenes, .count(1...100), "How many scenes of an app are connected."),
            Field(
                "relaunched_after", \.relaunched, .list(of: .quantity(), called: "times", atMost: 10),
                "The times from the app's last ends by the system to its next launches, the oldest first; at most 10."),
        ])
}
