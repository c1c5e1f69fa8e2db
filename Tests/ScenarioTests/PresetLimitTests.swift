import Memory
import Metrics
import Quantities
import Simulation
import TestSupport
import Testing

@testable import Scenario

/// An app that grows without end, on each device that has a limit for apps.
@Suite("the limit of an app on each device by name")
struct PresetLimitTests {
    static let presets = DevicePreset.all.filter { $0.appLimit != nil }.map(\.name)

    /// The end and the warnings of an app that grows to its limit in about a minute.
    private static func story(on name: String) throws -> (limit: ByteCount, end: TableRow, warnings: [TableRow]) {
        let limit = try #require(DevicePreset.named(name)?.appLimit?.value)
        let text = """
            plimsoll: 1
            name: grows
            duration: 90s
            device: { like: \(name) }
            apps:
              - name: a
                memory: { base: 8MiB, scene: 0B, cache: { size: 0B }, leak: \(limit.bytes / (60 << 20))MiB/s, \
            objects: { constant: 64KiB } }
            user: [{ at: 0s, launch: a }]
            """
        let plan = try Samples.load(text, Overrides(backend: .accounting)).get()
        let sinks = RunSinks { _ in MemorySink() }
        _ = try Simulation(plan, memory: plan.makeDevice(), sinks: sinks).run()
        let rows = TableRow.all(in: try #require((sinks[RunTables.events] as? MemorySink)?.text))
        let end = try #require(rows.first { $0["event"] == "exit" })
        return (limit, end, rows.filter { $0["event"] == "warning" && $0["cause"] == "near_limit" })
    }

    @Test("it ends by that limit, and was warned once, 100 MB below it", arguments: presets)
    func limit(name: String) throws {
        let (limit, end, warnings) = try Self.story(on: name)
        #expect(end["exit_reason"] == "memoryResourceLimit" && end["cause"] == "per-process-limit")
        #expect(end.integer("threshold") == limit.bytes)
        // One allocation crosses the limit; the row has what was held before it.
        let held = try #require(end.integer("observed"))
        #expect(abs(held - limit.bytes) <= 1 << 20, "\(held) at \(limit)")
        #expect(warnings.count == 1)
        let warning = try #require(warnings.first)
        let near = (limit - .mebibytes(100)).bytes
        #expect(warning.integer("threshold") == near)
        // It is warned at the next sample, 0.1 s of growth later.
        let told = try #require(warning.integer("observed"))
        #expect(told >= near && told < near + 12 << 20, "\(told)")
    }

    @Test("on a phone of 4 GB that is 2098 MiB, which a real log shows, and the warning comes at 1998 MiB")
    func measured() throws {
        for name in ["iphone-11", "iphone-13"] {
            let (limit, end, warnings) = try Self.story(on: name)
            #expect(limit == .mebibytes(2_098) && end.integer("threshold") == 2_098 << 20)
            #expect(warnings.first?.integer("threshold") == 1_998 << 20)
            #expect(DevicePreset.named(name)?.appLimit?.confidence == .measured)
        }
    }

    @Test("a product has the preset of its model, and a model that no preset covers has none")
    func products() {
        let known = [
            ("iPhone8,1", "iphone-6s"), ("iPhone10,3", "iphone-x"), ("iPhone12,8", "iphone-se-2"),
            ("iPhone11,6", "iphone-11"), ("iPhone12,1", "iphone-11"), ("iPhone13,2", "iphone-13"),
            ("iPhone14,5", "iphone-13"), ("iPhone14,7", "iphone-14"), ("iPhone17,3", "iphone-15-pro"),
            ("iPad8,9", "ipad-pro-6gb"),
        ]
        for (product, name) in known { #expect(DevicePreset.of(product: product)?.name == name, "\(product)") }
        // XR, 13 Pro, 14 Plus, and something else.
        for product in ["iPhone11,8", "iPhone14,2", "iPhone14,8", "plimsoll", ""] {
            #expect(DevicePreset.of(product: product)?.name == nil)
        }
        #expect(DevicePreset.of(product: "iPhone12,1", counted: .mebibytes(3_765))?.name == "iphone-11")
        #expect(DevicePreset.of(product: "iPhone12,1", counted: .mebibytes(703))?.name == nil)
    }
}
