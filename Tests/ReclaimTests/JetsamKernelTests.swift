import Pressure
import Quantities
import Testing

@testable import Reclaim

@Suite("jetsam by release of the kernel")
struct JetsamKernelTests {
    private func jetsam(
        _ kernel: JetsamKernel, _ parameters: [PolicySettings.Assignment] = []
    ) throws -> any ReclaimPolicy {
        try policy("jetsam", [.init(name: "kernel", value: .choice(kernel.rawValue))] + parameters)
    }

    private static let idleAndShown = [banded(1, 0), banded(2, 40)]
    private static let shown = [banded(2, 40)]

    // MARK: Thresholds

    @Test(
        "the classes of RAM by release: critical, idle, soft and reaper in per cent for 2, 3, 4, 6 and 8 GiB",
        arguments: [
            (.xnu8792, [[5, 10, 15, 0], [5, 10, 15, 0], [4, 9, 15, 0], [4, 9, 15, 0], [4, 9, 15, 0]]),
            (.xnu10063, [[5, 10, 15, 0], [5, 10, 15, 0], [4, 9, 15, 0], [4, 9, 15, 0], [4, 8, 12, 0]]),
            (.xnu11215, [[5, 10, 15, 0], [5, 10, 15, 0], [4, 9, 15, 0], [4, 9, 15, 0], [4, 8, 12, 0]]),
            (.xnu11417, [[5, 10, 15, 20], [5, 10, 15, 20], [4, 9, 15, 18], [4, 9, 15, 18], [4, 8, 12, 16]]),
        ] as [(JetsamKernel, [[Int64]])])
    func classes(kernel: JetsamKernel, rows: [[Int64]]) {
        for (gibibytes, expected) in zip([2, 3, 4, 6, 8], rows) {
            let row = JetsamThresholds.row(for: .gibibytes(gibibytes), in: kernel)
            let shares = [row.critical, row.idle, row.soft, row.reaper].map { $0.partsPerMillion / 10_000 }
            #expect(shares == expected, "\(kernel) with \(gibibytes) GiB")
        }
    }

    /// The RAM that iOS sees on devices sold with 2, 3, 4, 6, 8, 12 and 16 GB.
    @Test(
        "the marks of kernel 11417 in MiB for the memory that real devices see",
        arguments: [
            (2_016, [101, 202, 302, 403]), (2_785, [139, 279, 418, 557]), (2_813, [141, 281, 422, 563]),
            (3_844, [154, 346, 577, 692]), (5_724, [229, 515, 859, 1_030]), (7_600, [304, 608, 912, 1_216]),
            (11_718, [469, 937, 1_406, 1_875]), (15_400, [616, 1_232, 1_848, 2_464]),
        ])
    func marks(seen: Int, expected: [Int]) {
        let row = JetsamThresholds.row(for: .mebibytes(seen))
        let marks = [row.critical, row.idle, row.soft, row.reaper].map { share in
            ((ByteCount.mebibytes(seen) * share).bytes + 1 << 19) >> 20
        }
        #expect(marks == expected)
    }

    // MARK: Band 0

    @Test("between critical and idle 10063 ends idle apps for want of pages, 11215 by idle-exit")
    func raisedCritical() throws {
        let raised = try jetsam(.xnu10063).decide(device(80, Self.idleAndShown))
        #expect(raised.victims == [1, 2] && raised.firstCause == .pageShortage)
        #expect(raised.evidence?.rule == "below 10% of RAM")
        #expect(raised.ranking.map(\.isReported) == [false, true], "an idle app's end is not worth a report")
        let step = try jetsam(.xnu11215).decide(device(80, Self.idleAndShown))
        #expect(step.victims == [1] && step.firstCause == .idleExit)
        for kernel in JetsamKernel.allCases {
            #expect(try jetsam(kernel).decide(device(80, Self.shown)).ranking.isEmpty, "\(kernel): band 0 is empty")
            #expect(try jetsam(kernel).decide(device(100, Self.idleAndShown)).ranking.isEmpty, "\(kernel)")
            #expect(try jetsam(kernel).decide(device(49, Self.shown)).firstCause == .pageShortage, "\(kernel)")
        }
        let low = try jetsam(.xnu10063).decide(device(49, Self.idleAndShown))
        #expect(low.ranking.allSatisfy(\.isReported) && low.evidence?.rule == "below 10% of RAM")
    }

    @Test("below a raised critical the aggressive mode begins at 7 %; with the idle step it waits for critical")
    func aggressive() throws {
        let returning = (1...5).map { number in banded(number, 0) { $0.relaunchIntervals = [.seconds(1)] } }
        #expect(try jetsam(.xnu10063).decide(device(69, returning)).firstCause == .processThrashing)
        #expect(try jetsam(.xnu10063).decide(device(71, returning)).firstCause == .pageShortage)
        #expect(try jetsam(.xnu11215).decide(device(69, returning)).firstCause == .idleExit)
        #expect(try jetsam(.xnu11215).decide(device(49, returning)).firstCause == .processThrashing)
    }

    @Test("a raised critical stays at or below soft; the ballast of 8792 and 10063 moves critical alone")
    func bounds() throws {
        let soft = PolicySettings.Assignment(name: "soft", value: .ratio(.percent(7)))
        let ballast = PolicySettings.Assignment(name: "ballast", value: .ratio(.percent(3)))
        let violator = [banded(1, 30, size: 60) { $0.limit = MemoryLimit(bytes: .mebibytes(50), isFatal: false) }]
        for kernel in [JetsamKernel.xnu8792, .xnu10063] {
            #expect(try jetsam(kernel, [soft]).decide(device(70, Self.idleAndShown)).ranking.isEmpty)
            #expect(try jetsam(kernel, [soft]).decide(device(69, Self.idleAndShown)).firstCause == .pageShortage)
            #expect(try jetsam(kernel, [ballast]).decide(device(129, Self.idleAndShown)).firstCause == .pageShortage)
            #expect(try jetsam(kernel, [ballast]).decide(device(130, Self.idleAndShown)).ranking.isEmpty)
            #expect(try jetsam(kernel, [ballast]).decide(device(79, Self.shown)).firstCause == .pageShortage)
            #expect(try jetsam(kernel, [ballast]).decide(device(150, violator)).ranking.isEmpty, "soft stays")
        }
    }

    @Test("only 11417 has a reaper, unless a threshold for it is given")
    func reaper() throws {
        let old = [banded(1, 0, position: -600)]
        for kernel in JetsamKernel.allCases {
            let victims = try jetsam(kernel).decide(device(190, old)).victims
            #expect(victims == (kernel == .xnu11417 ? [1] : []), "\(kernel)")
        }
        let given = PolicySettings.Assignment(name: "reaper", value: .ratio(.percent(20)))
        #expect(try jetsam(.xnu11215, [given]).decide(device(190, old)).firstCause == .longIdleExit)
    }

    @Test("a device above 6 GiB has the soft threshold of the class below it under 8792")
    func softOf8792() throws {
        let ram = PolicySettings.Assignment(name: "ram", value: .bytes(.gibibytes(8)))
        let violator = [banded(1, 30, size: 60) { $0.limit = MemoryLimit(bytes: .mebibytes(50), isFatal: false) }]
        #expect(try jetsam(.xnu8792, [ram]).decide(device(140, violator)).firstCause == .highwater)
        #expect(try jetsam(.xnu10063, [ram]).decide(device(140, violator)).ranking.isEmpty)
        #expect(try jetsam(.xnu10063, [ram]).decide(device(119, violator)).firstCause == .highwater)
    }

    @Test("every kernel is content above what it says, and acts just below it")
    func content() throws {
        let violator = banded(3, 0, position: -600, size: 60) {
            $0.limit = MemoryLimit(bytes: .mebibytes(50), isFatal: false)
        }
        for kernel in JetsamKernel.allCases {
            for share in [0, 6] as [Int64] {
                let ballast = PolicySettings.Assignment(name: "ballast", value: .ratio(.percent(share)))
                let jetsam = try jetsam(kernel, [ballast])
                let all = Self.idleAndShown + [violator]
                let enough = try #require(jetsam.contentAbove(on: DeviceSize(.mebibytes(1000))))
                let at = device(0, all) { $0.available = enough }
                #expect(jetsam.decide(at).ranking.isEmpty, "\(kernel), \(share) % ballast")
                let below = device(0, all) { $0.available = enough - ByteCount(1) }
                #expect(!jetsam.decide(below).ranking.isEmpty, "\(kernel), \(share) % ballast")
            }
        }
    }

    // MARK: The former name

    @Test("jetsam-classic decides as jetsam with kernel 11215 does, and says so")
    func classic() throws {
        let old = banded(3, 0, position: -600) { $0.relaunchIntervals = [.seconds(60)] }
        let sets = [Self.shown, Self.idleAndShown, Self.idleAndShown + [old]]
        let (classic, jetsam) = (try policy("jetsam-classic"), try jetsam(.xnu11215))
        for available in stride(from: 0, through: 250, by: 1) {
            for processes in sets {
                let asked = device(available, processes)
                #expect(classic.decide(asked) == jetsam.decide(asked), "\(available) MiB")
            }
        }
        #expect(classic.decide(device(80, Self.idleAndShown)).firstCause == .idleExit)
        let advice = try #require(JetsamClassic.advice)
        #expect(advice.contains("jetsam with kernel 11215") && advice.contains("kernel: 11215 }"))
        #expect(PolicyCatalogue.all.filter { $0.advice != nil }.map { $0.name } == ["jetsam-classic"])
    }
}
