import Lifecycle
import Metrics
import Simulation

// Turns events.csv into slices and instants.
extension RunTrace {
    private struct Row {
        let at: Int
        let kind: EventKind
        let app, pid, scene, detail, reason: String
        /// A state, a level, an action or an exit reason, depending on the kind of event. Older tables lack these
        /// columns and have it in `detail`.
        let fact: String

        static let columns = [
            "time_s", "event", "app", "pid", "scene", "detail", "reason", "state", "level", "action", "exit_reason",
        ]

        /// - Parameter isOlder: Whether the table lacks the columns of facts.
        init?(_ cells: [String], isOlder: Bool) {
            guard let at = RunTrace.microseconds(cells[0]), let kind = EventKind(rawValue: cells[1]) else { return nil }
            (self.at, self.kind) = (at, kind)
            (app, pid, scene, detail, reason) = (cells[2], cells[3], cells[4], cells[5], cells[6])
            fact = isOlder ? detail : cells[7...].first { !$0.isEmpty } ?? ""
        }
    }

    /// Exit reasons that the app or the user intended.
    private static let wishedExits: Set<String> = [ExitReason.normalApp.rawValue, ExitReason.userTerminated.rawValue]

    mutating func addEvents(_ bytes: [UInt8]) {
        let table = TableReader(bytes, columns: Row.columns)
        let isOlder = !Set(Row.columns).isSubset(of: table.columns)
        begin("normal", "pressure", on: .level, at: 0)
        for case let row? in table.rows.lazy.map({ Row($0, isOlder: isOlder) }) {
            end = max(end, row.at)
            add(row)
        }
    }

    private mutating func add(_ row: Row) {
        switch row.kind {
        case .processState, .sceneState, .callback, .notification, .firstFrame, .warningAnswered, .exit:
            endCallback(of: row)
            addStep(row)
        case .user:
            instant(
                row.app.isEmpty ? row.detail : "\(row.detail) \(row.app)", "user", on: .user, at: row.at,
                reason: row.reason)
        case .pressureLevel:
            close(.level, downTo: 0, at: row.at)
            begin(row.fact, "pressure", on: .level, at: row.at, reason: row.reason)
        case .warning:
            instant(
                "memory warning", "warning", on: track(of: row.app), at: row.at, scope: .process, detail: row.detail,
                reason: row.reason)
        case .action:
            let name = row.app.isEmpty ? row.fact : "\(row.fact) \(row.app)"
            instant(name, "action", on: .actions, at: row.at, reason: row.reason)
        default:
            // Events without a form of their own appear as instants on their app's track.
            let track = row.app.isEmpty ? TraceTrack.user : track(of: row.app, scene: row.scene)
            instant(row.kind.rawValue, row.kind.rawValue, on: track, at: row.at, detail: row.detail, reason: row.reason)
        }
    }

    /// The steps of the process's main thread.
    private mutating func addStep(_ row: Row) {
        guard !row.app.isEmpty else { return }
        let track = track(of: row.app, scene: row.scene)
        switch row.kind {
        case .processState: enter(row, on: track)
        case .sceneState:
            close(track, downTo: 0, at: row.at)
            if row.fact != ScenePhase.unattached.rawValue {
                begin(row.fact, "scene", on: track, at: row.at, reason: row.reason)
            }
        case .callback:
            begin(row.detail, "callback", on: track, at: row.at)
            callbacks[row.pid] = (track, row.at)
        case .exit:
            instant(
                "exit", "exit", on: track, at: row.at, scope: .process, detail: row.detail, reason: row.reason)
            guard !RunTrace.wishedExits.contains(row.fact) else { return }
            instant(
                "kill \(row.app)", "kill", on: .kills, at: row.at, scope: .global, detail: row.detail,
                reason: row.reason)
        default: instant(row.kind.rawValue, row.kind.rawValue, on: track, at: row.at, detail: row.detail)
        }
    }

    /// The outermost slice of the app's track is the process's life, and the next one its state.
    private mutating func enter(_ row: Row, on track: TraceTrack) {
        guard row.fact != ProcessPhase.notRunning.rawValue else { return close(track, downTo: 0, at: row.at) }
        close(track, downTo: 1, at: row.at)
        if open[track, default: []].isEmpty { begin("process \(row.pid)", "process", on: track, at: row.at) }
        begin(row.fact, "state", on: track, at: row.at, reason: row.reason)
    }

    /// A callback's notification is posted when the callback has returned. If another row follows instead, the
    /// duration is unknown, and the callback gets a length of zero.
    private mutating func endCallback(of row: Row) {
        guard let callback = callbacks.removeValue(forKey: row.pid) else { return }
        guard let last = open[callback.track]?.last, last.category == "callback" else { return }
        let ended = row.kind == .notification ? row.at : callback.began
        close(callback.track, downTo: open[callback.track, default: []].count - 1, at: ended)
    }
}
