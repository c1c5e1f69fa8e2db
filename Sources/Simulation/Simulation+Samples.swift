import BitCollections
import HeapModule
import Lifecycle
import Memory
import Metrics
import Pressure
import Quantities
import Reclaim

/// What a row of `apps.csv` says of a process.
struct SampledProcess: Equatable {
    var phase: ProcessPhase
    var band: JetsamBand
    var books: ProcessBooks
    var cache: ByteCount
    /// Not in the row; part of the device's.
    var connectedScenes: Int

    /// False if that is what they are already.
    mutating func change(_ books: ProcessBooks, _ cache: ByteCount) -> Bool {
        guard books != self.books || cache != self.cache else { return false }
        self.books = books
        self.cache = cache
        return true
    }
}

/// How many processes and scenes there are of each kind, as of the last sample.
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
        case .suspended: suspended += one
        case .notRunning: break
        }
    }
}

/// What a row of `samples.csv` says beside the device's books, and its instant: what stays the same from one sample to
/// the next while memory alone moves.
struct SampledDevice: Equatable {
    var level: PressureLevel
    var processes: Int
    var counts: SampledCounts
    var some: StallAverages
    var full: StallAverages
}

/// When a process's band changes by itself.
struct Ageing: Comparable {
    let at: Instant
    let process: ProcessReference

    static func < (a: Ageing, b: Ageing) -> Bool { (a.at, a.process.pid) < (b.at, b.process.pid) }
}

/// The processes that may have changed since the last sample, by their positions among the live ones. Each process
/// enters itself.
final class ChangedProcesses {
    private(set) var positions = BitSet()
    /// Whether a position was entered since the list of them was last made.
    var isListed = true

    func insert(_ position: Int) {
        positions.insert(position)
        isListed = false
    }

    func remove(_ position: Int) { positions.remove(position) }

    func replace(with positions: BitSet) { self.positions = positions }

    func removeAll() {
        // One by one, for then it keeps its memory.
        while let last = positions.last { positions.remove(last) }
        isListed = true
    }
}

/// What the samples know from one to the next, so that a process that has not changed costs nothing.
struct SampleState {
    let changed = ChangedProcesses()
    /// The changed processes by rising process number; dead ones may be among them.
    var list: [ProcessReference] = []
    /// Those whose bands time alone will change, the next first.
    var ageing = Heap<Ageing>()
    var slots: [Int] = []
    var counts = SampledCounts()
    /// Apart, for both are compared where they lie; as one, a quarter of a kilobyte, they would be copied first.
    var books: DeviceBooks?
    var device: SampledDevice?
    let deviceRow = RowMemo()

    mutating func forgetChanges() {
        changed.removeAll()
        list.removeOneByOne()
    }
}

// The rows of a sample. Their cost follows the number of processes that have changed; of the others bytes are copied.
extension Simulation {
    /// The processes that may have changed since the last sample, by rising process number; who is not alive any more
    /// may be among them.
    func changedProcesses() -> [ProcessReference] {
        memory.takeChanges(into: &samples.slots)
        for slot in samples.slots where slot < processes.count {
            processes[slot]?.memoryDidChange()
        }
        return notedProcesses()
    }

    /// The same without those whose memory has changed and who have not been asked for since.
    func notedProcesses() -> [ProcessReference] {
        while let next = samples.ageing.min, next.at <= now {
            samples.ageing.removeMin()
            process(next.process)?.stateDidChange()
        }
        if !samples.changed.isListed {
            samples.list.removeOneByOne()
            for position in samples.changed.positions { samples.list.append(live[position].reference) }
            samples.changed.isListed = true
        }
        return samples.list
    }

    /// The process at this position has gone from the live ones: those behind it stand one place lower.
    func closeRanks(at position: Int) {
        if position == live.count {
            samples.changed.remove(position)
            return
        }
        for index in position..<live.count { live[index].position = index }
        samples.changed.replace(with: BitSet(live.indices.lazy.filter { self.live[$0].hasChanged }))
    }

    func recordSample() {
        // The device's own books have the sums: where nobody reads the rows, memory alone makes nobody worth a look.
        for reference in looksAtMemory ? changedProcesses() : notedProcesses() {
            guard let process = process(reference) else { continue }
            if process.stateHasChanged { resampleAll(of: process) } else if looksAtMemory { resample(process) }
            if process.rowIsStale && plan.appRows == .changed { recorder.app(process, at: now, keepsRows: false) }
            process.hasChanged = false
            process.stateHasChanged = false
        }
        samples.forgetChanges()
        recordDevice()
        if plan.appRows == .all { for process in live { recorder.app(process, at: now, keepsRows: true) } }
    }

    private func resample(_ process: LiveProcess) {
        let books = memory.books(of: process.slot)
        let cache = memory.requested(in: process.cache) * scale
        guard process.sampled?.change(books, cache) == true else { return }
        process.largest = max(process.largest, books.footprint)
        process.rowIsStale = true
    }

    private func resampleAll(of process: LiveProcess) {
        followBand(of: process)
        if let change = process.bands.nextChange(after: now) {
            samples.ageing.insert(Ageing(at: change, process: process.reference))
        }
        let facts = sampled(process)
        guard facts != process.sampled else { return }
        if let before = process.sampled { samples.counts.remove(before) }
        samples.counts.add(facts)
        process.sampled = facts
        process.largest = max(process.largest, facts.books.footprint)
        process.rowIsStale = true
    }

    private func sampled(_ process: LiveProcess) -> SampledProcess {
        SampledProcess(
            phase: process.phase, band: process.bands.band(at: now), books: memory.books(of: process.slot),
            cache: memory.requested(in: process.cache) * scale,
            connectedScenes: process.record.sessions.count { $0.machine.phase.isConnected })
    }

    /// It has died: it counts no more.
    func forgetSample(of process: LiveProcess) {
        if let before = process.sampled { samples.counts.remove(before) }
        process.sampled = nil
        // Nor does it change any more.
        process.hasChanged = true
    }

    private func recordDevice() {
        let books = memory.books
        recorder.tally.sampledRequested += books.requested
        recorder.tally.sampledUsable += books.usable
        recorder.tally.sampledActive += books.active
        recorder.tally.sampledDirty += books.dirty
        let device = SampledDevice(
            level: monitor.level, processes: live.count, counts: samples.counts, some: reclaim.stalls.some,
            full: reclaim.stalls.full)
        let row = recorder.samples
        let before = samples.books
        let isSteady = device == samples.device
        if isSteady && books == before { return row.repeatRow(samples.deviceRow, at: now) }
        samples.books = books
        if !isSteady { samples.device = device }
        guard row.isRead else { return row.skipRow() }
        row.seconds(now)
        let cells: InlineArray<6, Int> = [
            books.ceiling.bytes, books.resident.bytes, books.active.bytes, books.dirty.bytes, books.metadata.bytes,
            books.available.bytes,
        ]
        row.integers(cells.span)
        if isSteady, books.reserved == before?.reserved, books.peakResident == before?.peakResident {
            row.repeatTail(of: samples.deviceRow)
        } else {
            row.beginTail(of: samples.deviceRow)
            write(device, books, into: row)
        }
        row.endRow(keeping: samples.deviceRow)
    }

    /// The cells from the level on: the same while memory alone moves, and sets no record.
    private func write(_ device: SampledDevice, _ books: DeviceBooks, into row: TableWriter) {
        row.text(device.level.rawValue)
        row.integer(device.processes)
        row.integer(device.counts.connectedScenes)
        row.integer(device.counts.foreground)
        row.integer(device.counts.background)
        row.integer(device.counts.suspended)
        row.bytes(books.reserved)
        row.bytes(books.peakResident)
        write(device.some, into: row)
        write(device.full, into: row)
    }

    private func write(_ averages: StallAverages, into row: TableWriter) {
        row.ratio(averages.avg10)
        row.ratio(averages.avg60)
        row.ratio(averages.avg300)
    }

    /// What was not said to have changed has not: with `--verify`, at every sample.
    func checkSamples() {
        var counts = SampledCounts()
        var (requested, usable, active, dirty) = (ByteCount.zero, ByteCount.zero, ByteCount.zero, ByteCount.zero)
        for process in live {
            let facts = sampled(process)
            claim(facts == process.sampled, "the sample of \(process.profile.name) is not what it is now")
            claim(
                process.bands.requested == process.naturalBand,
                "the band of \(process.profile.name) is not what it is now")
            counts.add(facts)
            requested += facts.books.requested
            usable += facts.books.usable
            active += facts.books.active
            dirty += facts.books.dirty
        }
        let books = memory.books
        claim(counts == samples.counts, "the sample counts other processes than there are")
        claim(
            requested == books.requested && usable == books.usable && active == books.active && dirty == books.dirty,
            "the sums of the device are not those of the processes")
    }
}
