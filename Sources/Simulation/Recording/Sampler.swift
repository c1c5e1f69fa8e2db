import Lifecycle
import Memory
import Metrics
import Plan
import Pressure
import Quantities

/// The contents of a process's row in `apps.csv`.
struct SampledProcess: Equatable {
    /// The state that the app reads.
    var phase: ProcessPhase
    var band: JetsamBand
    var books: ProcessBooks
    var cache: ByteCount
    /// Counted in the device's row, but not part of this process's row.
    var connectedScenes: Int

    /// Updates the memory figures; false if they are unchanged.
    mutating func change(_ books: ProcessBooks, _ cache: ByteCount) -> Bool {
        guard books != self.books || cache != self.cache else { return false }
        self.books = books
        self.cache = cache
        return true
    }
}

/// The last sample of a process, and the row that was made of it.
final class SampledRow {
    let name: String
    let pid: ProcessID
    fileprivate(set) var facts: SampledProcess?
    /// The largest footprint found in a sample.
    fileprivate(set) var largest: ByteCount = .zero
    /// Whether the facts have changed since the row was written.
    fileprivate(set) var isStale = false
    /// The contents of its last row in `limits.csv`.
    fileprivate var headroom: Headroom?
    let memo = RowMemo()
    /// The contents of the row's head; nil before the first row.
    private var head: RowHead?

    fileprivate init(_ process: LiveProcess) {
        name = process.profile.name
        pid = process.pid
    }

    /// Returns the facts if they have changed since the row was written, and counts the row as written now.
    func takeStale() -> SampledProcess? {
        guard isStale, let facts else { return nil }
        isStale = false
        return facts
    }

    /// Whether the row begins as the last one did.
    func keepsHead(_ facts: SampledProcess) -> Bool {
        let head = RowHead(facts)
        defer { self.head = head }
        return self.head == head
    }
}

/// The part of a process's row that stays the same while only its memory changes.
private struct RowHead: Equatable {
    let phase: ProcessPhase
    let band: JetsamBand

    init(_ facts: SampledProcess) { (phase, band) = (facts.phase, facts.band) }
}

/// How many processes and scenes of each kind there were at the last sample.
struct SampledCounts: Equatable {
    var connectedScenes = 0
    var foreground = 0
    var background = 0
    var suspended = 0

    mutating func add(_ process: SampledProcess) { count(process, 1) }
    mutating func remove(_ process: SampledProcess) { count(process, -1) }

    private mutating func count(_ process: SampledProcess, _ one: Int) {
        connectedScenes += one * process.connectedScenes
        switch process.phase {
        case .active, .inactive: foreground += one
        case .background: background += one
        case .suspended, .prewarmed: suspended += one
        case .notRunning: break
        }
    }
}

/// The contents of a row of `samples.csv`, without its instant and the device's books. These stay the same from one
/// sample to the next while only memory changes.
struct SampledDevice: Equatable {
    var level: PressureLevel
    var processes: Int
    var counts: SampledCounts
    var some: StallAverages
    var full: StallAverages
}

/// Takes the samples: the rows of the device and of its processes. The cost depends on the number of changed
/// processes; for unchanged processes only bytes are copied.
final class Sampler {
    /// Indexed by memory slot.
    private var rows: [SampledRow?] = []
    private var counts = SampledCounts()
    /// Kept apart from `device`, so that each is compared in place. As one value of a quarter of a kilobyte, they
    /// would first be copied.
    private var books: DeviceBooks?
    private var device: SampledDevice?
    private let deviceRow = RowMemo()
    /// Whether every sample needs to know what each process holds.
    private let looksAtMemory: Bool
    private let appRows: AppRows
    private let memory: any DeviceMemory
    private let returning: ReturningMemory
    private let processes: ProcessTable
    let changes: ChangedProcesses
    private let recorder: RunRecorder
    private let faults: RunFaults
    private let agenda: Agenda

    init(
        _ appRows: AppRows, looksAtMemory: Bool, memory: any DeviceMemory, returning: ReturningMemory,
        processes: ProcessTable, changes: ChangedProcesses, recorder: RunRecorder, faults: RunFaults, agenda: Agenda
    ) {
        self.returning = returning
        self.appRows = appRows
        self.looksAtMemory = looksAtMemory
        self.memory = memory
        self.processes = processes
        self.changes = changes
        self.recorder = recorder
        self.faults = faults
        self.agenda = agenda
    }

    /// The largest footprint of the process that a sample has found.
    func largest(of process: LiveProcess) -> ByteCount {
        process.slot.index < rows.count ? rows[process.slot.index]?.largest ?? .zero : .zero
    }

    private func row(of process: LiveProcess) -> SampledRow {
        while rows.count <= process.slot.index { rows.append(nil) }
        if let row = rows[process.slot.index] { return row }
        let row = SampledRow(process)
        rows[process.slot.index] = row
        return row
    }

    /// The process has ended: it no longer counts.
    func forget(_ process: LiveProcess) {
        guard process.slot.index < rows.count else { return }
        if let before = rows[process.slot.index]?.facts { counts.remove(before) }
        rows[process.slot.index] = nil
    }

    // MARK: Processes

    func record(level: PressureLevel, _ stalls: StallMeter) {
        // The device's own books have the sums. So if no rows are written, a process of which only the memory changed
        // need not be sampled.
        for reference in looksAtMemory ? changes.all() : changes.entered() {
            guard let process = processes.process(reference) else { continue }
            let row = row(of: process)
            if process.stateHasChanged {
                resampleAll(of: process, row)
            } else if looksAtMemory {
                resample(process, row)
            }
            if recorder.limits.isRead { recordHeadroom(of: process, row) }
            if row.isStale && appRows == .changed { recorder.app(row, at: agenda.now, keepsRows: false) }
            process.wasSampled()
        }
        changes.removeAll()
        recordDevice(level, stalls)
        guard appRows == .all else { return }
        for process in processes.live { recorder.app(row(of: process), at: agenda.now, keepsRows: true) }
    }

    private func recordHeadroom(of process: LiveProcess, _ row: SampledRow) {
        guard let limit = process.presentLimit, let facts = row.facts else { return }
        let headroom = Headroom(limit: limit.bytes, isFatal: limit.isFatal, footprint: facts.books.footprint)
        guard headroom != row.headroom else { return }
        row.headroom = headroom
        LimitRow.table.write(
            LimitRow(at: agenda.now, app: row.name, pid: row.pid, limit: process.limitName, headroom: headroom),
            to: recorder.limits)
    }

    private func resample(_ process: LiveProcess, _ row: SampledRow) {
        let books = memory.books(of: process.slot)
        guard row.facts?.change(books, cache(of: process, in: books)) == true else { return }
        row.largest = max(row.largest, books.footprint)
        row.isStale = true
    }

    private func resampleAll(of process: LiveProcess, _ row: SampledRow) {
        process.followBand(at: agenda.now)
        if let change = process.bands.nextChange(after: agenda.now) { changes.expectChange(of: process, at: change) }
        let facts = sampled(process)
        guard facts != row.facts else { return }
        if let before = row.facts { counts.remove(before) }
        counts.add(facts)
        row.facts = facts
        row.largest = max(row.largest, facts.books.footprint)
        row.isStale = true
    }

    /// A part of what the process asked for. A scale model's own objects are a sample, whose sizes may add up to less
    /// than the cache's share.
    private func cache(of process: LiveProcess, in books: ProcessBooks) -> ByteCount {
        min(books.requested, memory.requested(in: process.pools.cache) * memory.scale)
    }

    private func sampled(_ process: LiveProcess) -> SampledProcess {
        let books = memory.books(of: process.slot)
        return SampledProcess(
            phase: process.readPhase, band: process.bands.band(at: agenda.now), books: books,
            cache: cache(of: process, in: books),
            connectedScenes: process.record.sessions.count { $0.machine.phase.isConnected })
    }

    // MARK: The device

    private func recordDevice(_ level: PressureLevel, _ stalls: StallMeter) {
        let books = memory.books
        recorder.addSample(books)
        let device = SampledDevice(
            level: level, processes: processes.live.count, counts: counts, some: stalls.some, full: stalls.full)
        let before = self.books
        let isSteady = device == self.device
        let row = DeviceRow(at: agenda.now, books: books, device: device)
        if isSteady && books == before { return recorder.repeatSample(row, as: deviceRow) }
        self.books = books
        if !isSteady { self.device = device }
        let isTailSteady = isSteady && books.reserved == before?.reserved && books.peakResident == before?.peakResident
        recorder.sample(row, isSteady: isTailSteady, as: deviceRow)
    }

    // MARK: Claims

    /// With `--verify`, at every sample: checks that a process that did not report a change has not changed.
    func check() {
        var counts = SampledCounts()
        var held = returning.books
        var (requested, usable, active, dirty) = (ByteCount.zero, ByteCount.zero, ByteCount.zero, ByteCount.zero)
        for process in processes.live {
            let facts = sampled(process)
            faults.claim(
                facts == row(of: process).facts, "the sample of \(process.profile.name) is not what it is now")
            faults.claim(
                process.bands.requested == process.naturalBand,
                "the band of \(process.profile.name) is not what it is now")
            counts.add(facts)
            held.append(facts.books)
        }
        for books in held {
            requested += books.requested
            usable += books.usable
            active += books.active
            dirty += books.dirty
        }
        let books = memory.books
        faults.claim(counts == self.counts, "the sample counts other processes than there are")
        faults.claim(
            requested == books.requested && usable == books.usable && active == books.active && dirty == books.dirty,
            "the sums of the device are not those of the processes")
    }
}
