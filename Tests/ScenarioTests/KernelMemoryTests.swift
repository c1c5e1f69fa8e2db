import Plan
import Quantities
import Reclaim
import Testing

@testable import Scenario

/// The keys of an iPhone's memory. `Scenarios/Invalid` has what the loader refuses of them.
@Suite("the keys of an iPhone's memory")
struct KernelMemoryTests {
    private static let text = """
        plimsoll: 1
        name: phone
        duration: 1min
        device:
          ceiling: 4GiB
          reserved: 1GiB
          compressor: {}
          file_cache: { system: 600MiB, system_read_rate: 3MiB/s }
          kernel: 11215
          wired: [{ at: 10s, size: 300MiB }, { at: 20s, size: 0B }]
          system_pageable: 400MiB
          system_compressed: 200MiB
          freezer: { slots: 7, minimum: 4MiB, budget: none, write_rate: 100MiB/s, store: 512MiB }
        apps: [{ name: a }]
        """

    private static let keys = [
        "kernel", "wired", "system_pageable", "system_compressed", "freezer", "system", "system_read_rate",
    ]

    @Test("they are read, and come back from the effective scenario")
    func read() throws {
        let plan = try Samples.load(Self.text).get()
        let device = plan.device
        #expect(device.kernel == .xnu11215 && device.freezer?.slots == 7 && device.freezer?.budget == nil)
        #expect(device.wired.map(\.size) == [.mebibytes(300), .zero] && device.wired[0].at == .seconds(10))
        #expect(device.fileCache?.system == .mebibytes(600))
        let yaml = EffectiveScenario.yaml(of: plan)
        #expect(try Samples.load(yaml).get() == plan)
        for key in Self.keys { #expect(yaml.contains(" \(key):"), "\(key)") }
    }

    @Test("a scenario without them is written without them")
    func omitted() throws {
        let yaml = EffectiveScenario.yaml(of: try Samples.load(Samples.minimal).get())
        for key in Self.keys { #expect(!yaml.contains(" \(key):"), "\(key)") }
    }

    @Test("a scale model has its share of them, and files come back at the rate of the device that is meant")
    func scaled() throws {
        let plan = try Samples.load(Self.text).get().scaled(by: .percent(50))
        let device = plan.device
        #expect(device.wired[0].size == .mebibytes(150) && device.wired[0].at == .seconds(10))
        #expect(device.systemPageable == .mebibytes(200) && device.systemCompressed == .mebibytes(100))
        #expect(device.fileCache?.system == .mebibytes(300))
        #expect(device.fileCache?.systemReadRate == ByteRate(bytesPerSecond: 3 << 20))
        let freezer = try #require(device.freezer)
        #expect(freezer.minimum == .mebibytes(2) && freezer.store == .mebibytes(256) && freezer.budget == nil)
        #expect(freezer.writeRate == ByteRate(bytesPerSecond: 50 << 20))
    }
}
