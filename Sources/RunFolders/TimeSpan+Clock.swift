import Foundation
import Quantities

extension TimeSpan {
    /// The span in whole seconds, as a clock shows it: `12:34` or `1:02:03`.
    package var clockText: String {
        let seconds = microseconds / 1_000_000
        let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60)
        return hours > 0
            ? String(format: "%d:%02d:%02d", hours, minutes, rest) : String(format: "%d:%02d", minutes, rest)
    }
}
