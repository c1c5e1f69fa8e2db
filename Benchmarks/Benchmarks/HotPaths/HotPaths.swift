import BasicContainers
import Benchmark
import Memory
import Metrics
import Quantities

/// The device that a benchmark works on; a host that refuses it ends the benchmark.
private func device(_ backend: MemoryBackend, _ benchmark: Benchmark) -> (any DeviceMemory)? {
    do {
        return try makeDeviceMemory(backend, ceiling: .mebibytes(256), reserved: .mebibytes(4))
    } catch {
        benchmark.error("\(error)")
        return nil
    }
}

private let usualSizes = SizeSampler(
    .logNormal(median: .kibibytes(2), sigma: Ratio(partsPerMillion: 1_400_000), highest: .mebibytes(1)))

/// Draws, allocates and frees objects of one process, a mebibyte at a time.
private func churn(_ backend: MemoryBackend, _ benchmark: Benchmark) {
    guard let memory = device(backend, benchmark) else { return }
    guard let slot = try? memory.makeProcess() else { return benchmark.error("no process") }
    let pool = memory.makePool(in: slot)
    var generator = SeededGenerator(seed: 1, stream: "releases")
    var stream = SizeStream(usualSizes, SeededGenerator(seed: 1, stream: "benchmark"))
    var sizes = SizeBatch()
    benchmark.startMeasurement()
    for _ in benchmark.scaledIterations {
        stream.fill(&sizes, with: .mebibytes(1))
        blackHole(memory.allocate(sizes.storage.span.extracting(first: sizes.count), in: pool, limit: nil))
        if memory.requested(in: pool) > .mebibytes(64) {
            blackHole(memory.releaseScattered(.mebibytes(32), from: pool, using: &generator))
        }
    }
}

/// One row of the shape of `apps.csv`.
private func writeRow(_ table: TableWriter, _ number: Int) {
    table.seconds(Instant(microseconds: Int64(number) * 100_000))
    table.text("app-of-the-day")
    table.integer(number)
    for column in 0..<8 { table.bytes(ByteCount(number << column)) }
}

private let rowSchema = TableSchema(
    "rows", "",
    [Column("time_s", .number, ""), Column("app", .string, ""), Column("pid", .integer, "")]
        + (0..<8).map { Column("column_\($0)_bytes", .integer, "") })

/// Takes everything and counts it.
private final class Counter: ByteSink {
    private(set) var bytes = 0
    func write(_ bytes: Span<UInt8>) { self.bytes += bytes.count }
}

let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.cpuTotal, .wallClock, .throughput], scalingFactor: .kilo, maxDuration: .seconds(3))

    Benchmark("a row, written") { benchmark in
        let table = TableWriter(rowSchema, to: Counter())
        for number in benchmark.scaledIterations {
            writeRow(table, number)
            table.endRow()
        }
    }

    Benchmark("a row, repeated") { benchmark in
        let table = TableWriter(rowSchema, to: Counter())
        let memo = RowMemo()
        writeRow(table, 1)
        table.endRow(keeping: memo)
        for number in benchmark.scaledIterations {
            table.repeatRow(memo, at: Instant(microseconds: Int64(number) * 100_000))
        }
    }

    Benchmark("a size, drawn") { benchmark in
        var generator = SeededGenerator(seed: 1, stream: "benchmark")
        for _ in benchmark.scaledIterations { blackHole(usualSizes.next(using: &generator)) }
    }

    Benchmark("a mebibyte of sizes, drawn ahead") { benchmark in
        var stream = SizeStream(usualSizes, SeededGenerator(seed: 1, stream: "benchmark"))
        var sizes = SizeBatch()
        for _ in benchmark.scaledIterations { stream.fill(&sizes, with: .mebibytes(1)) }
        blackHole(sizes.count)
    }

    let slow = Benchmark.Configuration(
        metrics: [.cpuTotal, .wallClock, .throughput], scalingFactor: .one, maxDuration: .seconds(3))
    Benchmark("a mebibyte of objects, real memory", configuration: slow) { churn(.jemalloc, $0) }
    Benchmark("a mebibyte of objects, accounting", configuration: slow) { churn(.accounting, $0) }
}
