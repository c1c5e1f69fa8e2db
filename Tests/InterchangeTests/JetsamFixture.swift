import Foundation

/// Handmade JetsamEvent reports in the forms of several system versions.
enum JetsamFixture {
    struct Entry {
        var name: String
        var pages: Int
        var band: Int?
        var states: [String]
        var more = ""

        init(_ name: String, _ pages: Int, _ band: Int?, _ states: String, _ more: String = "") {
            self.name = name
            self.pages = pages
            self.band = band
            self.states = states.split(separator: " ").map(String.init)
            self.more = more
        }

        func json(_ pid: Int) -> String {
            let words = states.map { "\"\($0)\"" }.joined(separator: ",\n      ")
            let priority = band.map { "\n    \"priority\" : \($0)," } ?? ""
            return """
                  {\(more)
                    "uuid" : "00000000-0000-0000-0000-000000000000",
                    "states" : [
                      \(words)
                    ],
                    "lifetimeMax" : \(pages * 2),\(priority)
                    "physicalPages" : { "internal" : [3, \(pages)] },
                    "freeze_skip_reason:" : "none",
                    "cpuTime" : 0.066796999999999995,
                    "name" : "\(name)",
                    "pid" : \(pid),
                    "rpages" : \(pages)
                  }
                """
        }
    }

    /// iOS 14, pages of 16 KiB: frozen apps in band 8, two processes in front, two victims.
    static let modern = [
        Entry("widgetd", 300, 0, "daemon idle"), Entry("Notes", 900, 0, "suspended"),
        Entry("com.apple.WebKit.WebContent", 650, 0, "suspended"),
        Entry("Game of Life", 4_000, 0, "suspended", "\"reason\" : \"vm-pageshortage\", \"killDelta\" : 13595,"),
        Entry("highd", 456, 1, "daemon idle", "\"reason\" : \"highwater\","),
        Entry("Maps", 3_100, 4, "background"), Entry("kbd", 700, 7, "daemon"), Entry("Chat", 1_200, 8, "suspended"),
        Entry("com.apple.WebKit.WebContent", 2_000, 10, "frontmost", "\"coalition\" : 7,"),
        Entry("Browser", 1_000, 10, "frontmost", "\"coalition\" : 7,"),
        Entry("Radio", 1_500, 12, "background"), Entry("SpringBoard", 7_000, 16, "frontmost"),
        Entry("launchd", 0, 18, "daemon"),
    ]

    /// iOS 10, pages of 4 KiB, no priorities: only the states and the order show the bands.
    static let old = [
        Entry("heard", 652, nil, "daemon idle"), Entry("MobileCal", 1_671, nil, "suspended"),
        Entry("MobileMail", 2_827, nil, "continuous"), Entry("setoken", 487, nil, "suspended"),
        Entry("gamed", 1_879, nil, "daemon idle"), Entry("MobileSafari", 5_217, nil, "background"),
        Entry("Snap", 35_242, nil, "frontmost resume"),
        Entry("SpringBoard", 30_000, nil, "", "\"reason\" : \"highwater\","),
    ]

    /// iOS 17, with the scale of iOS 16.
    static let today = [
        Entry("Notes", 2_000, 0, "suspended"), Entry("Maps", 3_000, 40, "background"),
        Entry("Chat", 1_500, 75, "suspended"), Entry("Sports", 900, 30, "background"),
        Entry("homed", 900, 100, "daemon"), Entry("Split", 1_100, 100, "frontmost"),
        Entry("Browser", 4_000, 100, "frontmost"),
    ]

    static func report(
        _ entries: [Entry], system: String? = "iPhone OS 14.2 (18B5061e)", pageSize: Int = 16_384,
        pages: (active: Int, free: Int, fileBacked: Int, wired: Int) = (20_000, 3_000, 5_000, 9_000),
        header: Bool = true
    ) -> String {
        let version = system.map { ",\"os_version\":\"\($0)\"" } ?? ""
        let first = "{\"bug_type\":\"298\",\"timestamp\":\"2020-10-15 17:29:58.79 +0100\"\(version)}\n"
        let list = entries.enumerated().map { $1.json(300 + $0) }.joined(separator: ",\n")
        return (header ? first : "") + """
            {
              "crashReporterKey" : "d3e622273dd1",
              "kernel" : "Darwin Kernel Version 20.1.0: root:xnu\\/RELEASE",
              "product" : "iPhone12,1",
              "memoryStatus" : {
              "compressorSize" : 4000,
              "pageSize" : \(pageSize),
              "uncompressed" : 10000,
              "memoryPages" : {
                "active" : \(pages.active),
                "throttled" : 0,
                "fileBacked" : \(pages.fileBacked),
                "wired" : \(pages.wired),
                "anonymous" : 15000,
                "purgeable" : 12,
                "inactive" : 8000,
                "free" : \(pages.free),
                "speculative" : 1000
              }
            },
              "largestProcess" : "SpringBoard",
              "processes" : [
            \(list)
              ]
            }

            """
    }
}
