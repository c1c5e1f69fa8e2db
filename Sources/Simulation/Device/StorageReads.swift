import Quantities

/// Who waits for the device's storage: for pages of files, or for contents of the store. Storage serves one read after
/// the other.
final class StorageReads {
    /// A process that waits for storage.
    private struct Reader {
        let process: ProcessReference
        let since: Instant
        let until: Instant
        /// Whether it waits for pages that were in memory before.
        let isRefault: Bool
    }

    private var readers: [Reader] = []
    /// When storage has delivered all that was asked of it.
    private var isFreeAt = Instant.zero

    /// The process waits for a read that takes this long.
    ///
    /// - Returns: When storage has delivered it.
    func wait(of process: LiveProcess, for time: TimeSpan, isRefault: Bool, at now: Instant) -> Instant {
        let until = occupy(for: time, at: now)
        readers.append(Reader(process: process.reference, since: now, until: until, isRefault: isRefault))
        return until
    }

    /// Storage is at work for this long, for nobody who waits.
    ///
    /// - Returns: When it is done.
    func occupy(for time: TimeSpan, at now: Instant) -> Instant {
        isFreeAt = max(now, isFreeAt) + time
        return isFreeAt
    }

    /// The process has what it waited for; returns since when it waited.
    func finish(_ process: LiveProcess, at now: Instant) -> Instant? {
        readers.removeAll { $0.until < now }
        guard let place = readers.firstIndex(where: { $0.process == process.reference && $0.until == now }) else {
            return nil
        }
        return readers.remove(at: place).since
    }

    /// Whether the process waits for storage.
    func isRead(by process: LiveProcess) -> Bool { readers.contains { $0.process == process.reference } }

    /// Whether a process waits for pages that were in memory before: memory is too short for what is in use.
    ///
    /// Linux counts this time as a stall for memory (`PSI_MEM_SOME`), unlike the time in which a page is read for the
    /// first time.
    func isStalling(at now: Instant) -> Bool { readers.contains { $0.isRefault && $0.until > now } }
}
