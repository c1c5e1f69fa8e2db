import Quantities
import Testing

@testable import Memory

@Suite("The allocator")
struct AllocatorTests {
    @Test("the compiled-in options are in force")
    func options() throws {
        let allocator = try AllocatorDescription()
        let options = Dictionary(uniqueKeysWithValues: allocator.options.map { ($0.name, $0.value) })
        for pair in allocator.compiledOptions.split(separator: ",") {
            let parts = pair.split(separator: ":").map { String($0) }
            #expect(options[parts[0]] == parts[1], "\(parts[0])")
        }
        #expect(options.count >= 15)
    }

    @Test("our size classes are jemalloc's, around every boundary and between")
    func sizeClasses() {
        let classes = SizeClasses()
        var sizes = Array(1...40_000)
        var random = SeededGenerator(seed: 1, stream: "classes")
        for power in 14..<30 {
            for quarter in 4..<8 { for near in -2...2 { sizes.append((1 << power) / 4 * quarter + near) } }
            for _ in 0..<200 { sizes.append(random.number(in: 1 << power...1 << (power + 1))) }
        }
        // With an explicit alignment, even the natural one, the result comes from jemalloc itself.
        let differing = sizes.filter { classes.usable($0) != classes.usable($0, logAlignment: 0) }
        #expect(differing.isEmpty)
    }

    @Test("this host's allocator is good enough")
    func check() throws {
        try AllocatorDescription().check()
    }

    @Test("an option that breaks the books is refused by name", arguments: ["retain", "prof", "hpa"])
    func foreignOption(name: String) {
        let option = AllocatorDescription.Option(name: name, value: "true")
        #expect(throws: DeviceMemoryFailure.option(name: name, found: "true", needed: "false")) {
            try AllocatorDescription.check([option])
        }
    }

    @Test("an option that only changes results is not refused")
    func harmlessOption() throws {
        try AllocatorDescription.check([.init(name: "junk", value: "true")])
    }

    @Test(
        "5.3.0 and later are recent enough, earlier ones are not",
        arguments: [
            ("5.3.0-0-g54eaed1", true), ("5.3.1-0-g1", true), ("6.0.0", true), ("5.10.0-1-g2", true),
            ("5.2.1-0-gea6b3e9", false), ("4.9.9", false), ("0.0.0", false),
        ])
    func versions(version: String, recent: Bool) {
        #expect(AllocatorDescription.isRecent(version) == recent)
    }
}
