import Quantities
@testable import Workload

extension Archetype {
    /// Plays on in the background.
    public static let radio = Archetype("radio", "live radio in the background") { app in
        app.memory.base = .mebibytes(30)  // Ours.
        app.backgroundModes = [.audio]
    }
}
