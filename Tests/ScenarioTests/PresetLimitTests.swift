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

    @Test("it ends by that limit, and was warned once, at the whole percentage 100 MB below it", arguments: presets)
    func limit(name: String) throws {
        let (limit, end, warnings) = try Self.story(on: name)
        #expect(end["exit_reason"] == "memoryResourceLimit" && end["cause"] == "per-process-limit")
        #expect(end.integer("threshold") == limit.bytes)
        // One allocation crosses the limit; the row has what was held before it.
        let held = try #require(end.integer("observed"))
        #expect(abs(held - limit.bytes) <= 1 << 20, "\(held) at \(limit)")
        #expect(warnings.count == 1)
        let warning = try #require(warnings.first)
        let near = (limit * .percent(Int64((limit - .mebibytes(100)).bytes * 100 / limit.bytes))).bytes
        #expect(warning.integer("threshold") == near)
        // It is warned at the next sample, 0.1 s of growth later.
        let told = try #require(warning.integer("observed"))
        #expect(told >= near && told < near + 12 << 20, "\(told)")
    }

    @Test("on a phone of 4 GB that is 2098 MiB, which a real log shows, and the warning comes at 95 % of it")
    func measured() throws {
        for name in ["iphone-11", "iphone-13"] {
            let (limit, end, warnings) = try Self.story(on: name)
            #expect(limit == .mebibytes(2_098) && end.integer("threshold") == 2_098 << 20)
            #expect(warnings.first?.integer("threshold") == (2_098 << 20) * 95 / 100)
            #expect(DevicePreset.named(name)?.appLimit?.confidence == .measured)
        }
    }

    /// The limits of processes of these kinds in a scenario on this device.
    private static func limits(_ device: String, _ process: String = "") throws -> [ByteCount?] {
        let text = """
            plimsoll: 1
            name: extensions
            duration: 1s
            device: { \(device) }
            apps: [{ name: a, memory: { base: 1MiB } }]
            processes:
              - { name: keys, kind: keyboard, memory: { base: 1MiB }\(process) }
              - { name: push, kind: notification-service, memory: { base: 1MiB } }
              - { name: mail, kind: message-filter, memory: { base: 1MiB } }
            user: [{ at: 0s, launch: a }]
            """
        return try Samples.load(text, Overrides(backend: .accounting)).get().parts.map(\.limits.active)
    }

    @Test("an extension has its device's limit, as lists say, unless its scenario states one")
    func extensions() throws {
        #expect(try Self.limits("ceiling: 4GiB") == [.mebibytes(77), .mebibytes(24), .mebibytes(6)])
        #expect(try Self.limits("like: iphone-15-pro") == [.mebibytes(90), .mebibytes(24), .mebibytes(6)])
        #expect(try Self.limits("like: iphone-x") == [.mebibytes(48), .mebibytes(16), .mebibytes(6)])
        #expect(try Self.limits("like: iphone-15-pro", ", limits: { active: 50MiB }")[0] == .mebibytes(50))
        #expect(try Self.limits("like: iphone-15-pro", ", limits: { active: none }")[0] == nil)
        for preset in DevicePreset.all {
            let limits = try Self.limits("like: \(preset.name)")
            for limit in preset.extensionLimits {
                let place = [.keyboard, .notificationService].firstIndex(of: limit.kind)
                if let place { #expect(limits[place] == limit.limit.value, "\(preset.name)") }
            }
        }
    }

    @Test("an app with the entitlement has the device's higher limit; without one it is as every app, with a warning")
    func entitled() throws {
        func end(_ device: String, _ app: String) throws -> (threshold: Int?, warnings: [String]) {
            let text = """
                plimsoll: 1
                name: entitled
                duration: 20s
                device: { ceiling: 1GiB, app_limit: 100MiB\(device) }
                apps: [{ name: a, memory: { base: 8MiB, leak: 20MiB/s }\(app) }]
                user: [{ at: 0s, launch: a }]
                """
            let plan = try Samples.load(text, Overrides(backend: .accounting)).get()
            let sinks = RunSinks { _ in MemorySink() }
            _ = try Simulation(plan, memory: plan.makeDevice(), sinks: sinks, verify: true).run()
            let rows = TableRow.all(in: try #require((sinks[RunTables.events] as? MemorySink)?.text))
            return (rows.first { $0["event"] == "exit" }?.integer("threshold"), plan.warnings(from: "x"))
        }
        #expect(try end(", entitled_limit: 200MiB", "").threshold == 100 << 20)
        let entitled = try end(", entitled_limit: 200MiB", ", entitled: true")
        #expect(entitled.threshold == 200 << 20 && entitled.warnings.isEmpty)
        let unknown = try end("", ", entitled: true")
        #expect(unknown.threshold == 100 << 20)
        #expect(unknown.warnings == ["x: warning: app 'a': entitled has no effect: no device.entitled_limit is known"])
        let own = try end(", entitled_limit: 200MiB", ", entitled: true, limits: { active: 50MiB }")
        #expect(own.threshold == 50 << 20 && own.warnings.count == 1)
        #expect(DevicePreset.named("iphone-15-pro")?.device.entitledLimit == .mebibytes(6_144))
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
