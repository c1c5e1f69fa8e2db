import Quantities
import Testing

@testable import Reclaim

/// The rule of Linux's OOM killer by release. The expected figures were worked out by hand from mm/oom_kill.c, and for
/// `oom_score` from fs/proc/base.c, of the releases named at the rows.
@Suite("badness by release of Linux")
struct KernelBadnessTests {
    private static func rule(_ major: Int, _ minor: Int, _ bonus: KernelBadness.RootBonus? = nil) -> KernelBadness {
        KernelBadness(release: KernelRelease(major, minor), rootBonus: bonus)
    }

    struct Row: Sendable {
        let release: KernelRelease
        /// Pages in RAM, in swap and of page tables; `oom_score_adj`; all pages.
        let held: (rss: Int, swap: Int, tables: Int)
        let adjustment: Int
        var root = false
        let total: Int
        let points: Int?
        /// Where the rule stands.
        let source: Comment
    }

    private static let rows = [
        Row(
            release: KernelRelease(3, 4), held: (250_000, 0, 0), adjustment: 0, total: 1_000_000, points: 250,
            source: "3.4, oom_badness: points *= 1000, points /= totalpages"),
        Row(
            release: KernelRelease(3, 4), held: (200_000, 40_999, 10_000), adjustment: 100, total: 1_000_000,
            points: 350, source: "3.4: nr_ptes and swapents count, the sum is rounded down, oom_score_adj is added"),
        Row(
            release: KernelRelease(3, 4), held: (250_000, 0, 0), adjustment: 0, root: true, total: 1_000_000,
            points: 220, source: "3.4: points -= 30"),
        Row(
            release: KernelRelease(3, 4), held: (900_000, 0, 0), adjustment: 1_000, total: 1_000_000, points: 1_000,
            source: "3.4: points < 1000 ? points : 1000"),
        Row(
            release: KernelRelease(3, 4), held: (999, 0, 0), adjustment: 0, total: 1_000_000, points: 1,
            source: "3.4: points <= 0 return 1"),
        Row(
            release: KernelRelease(3, 4), held: (1, 0, 0), adjustment: 0, total: 0, points: 1_000,
            source: "3.4: if (!totalpages) totalpages = 1"),
        Row(
            release: KernelRelease(3, 5), held: (250_000, 30, 7), adjustment: 2, total: 1_000_999, points: 252_037,
            source: "3.5: adj *= totalpages / 1000, which rounds down first"),
        Row(
            release: KernelRelease(3, 13), held: (250_000, 0, 0), adjustment: 0, root: true, total: 1_000_000,
            points: 220_000, source: "3.13: adj -= 30"),
        Row(
            release: KernelRelease(3, 14), held: (250_010, 0, 0), adjustment: 0, root: true, total: 1_000_000,
            points: 242_510, source: "3.14: points -= (points * 3) / 100"),
        Row(
            release: KernelRelease(4, 16), held: (100, 0, 0), adjustment: 0, root: true, total: 1_000_000, points: 97,
            source: "4.16: points -= (points * 3) / 100"),
        Row(
            release: KernelRelease(4, 17), held: (100, 0, 0), adjustment: 0, root: true, total: 1_000_000, points: 100,
            source: "4.17: no has_capability_noaudit"),
        Row(
            release: KernelRelease(5, 8), held: (15_000, 0, 0), adjustment: -998, total: 4_194_304, points: 1,
            source: "5.8: return points > 0 ? points : 1"),
        Row(
            release: KernelRelease(5, 9), held: (15_000, 0, 0), adjustment: -998, total: 4_194_304,
            points: 15_000 - 998 * 4_194, source: "5.9: return points"),
        Row(
            release: KernelRelease(6, 12), held: (52_000, 10_000, 782), adjustment: 0, total: 213_013, points: 62_782,
            source: "6.12: rss + swapents + pgtables / PAGE_SIZE"),
        Row(
            release: KernelRelease(6, 12), held: (100, 0, 0), adjustment: 1_000, total: 999, points: 100,
            source: "6.12: totalpages / 1000 is 0 in a group of less than 4 MB, so oom_score_adj has no weight"),
        Row(
            release: KernelRelease(2, 6), held: (9, 0, 0), adjustment: -1_000, total: 100, points: nil,
            source: "2.6.36: oom_score_adj == OOM_SCORE_ADJ_MIN"),
        Row(
            release: KernelRelease(6, 12), held: (9, 0, 0), adjustment: -1_000, total: 100, points: nil,
            source: "6.12: adj == OOM_SCORE_ADJ_MIN, return LONG_MIN"),
    ]

    @Test("a process has the points of its release", arguments: rows.indices)
    func points(index: Int) {
        let row = Self.rows[index]
        let points = KernelBadness(release: row.release).points(
            rss: row.held.rss, swap: row.held.swap, pageTables: row.held.tables, adjustment: row.adjustment,
            root: row.root, total: row.total)
        #expect(points == row.points, row.source)
    }

    @Test("a vendor's kernel may have a later release's bonus of root")
    func backport() {
        func points(_ bonus: KernelBadness.RootBonus?) -> Int? {
            Self.rule(3, 10, bonus).points(
                rss: 100_000, swap: 0, pageTables: 0, adjustment: 0, root: true, total: 1_000_000)
        }
        #expect(points(nil) == 70_000 && points(.ownShare) == 97_000 && points(KernelBadness.RootBonus.none) == 100_000)
    }

    @Test("sizes beyond any machine's do not overflow")
    func overflow() {
        for rule in [Self.rule(3, 4), Self.rule(3, 10), Self.rule(6, 12)] {
            let points = rule.points(
                rss: .max, swap: .max, pageTables: .max, adjustment: .max, root: true, total: .max)
            #expect(points.map { rule.oomScore(points: $0, total: .max) } ?? 0 > 0)
            #expect(rule.points(rss: .min, swap: 0, pageTables: 0, adjustment: 0, root: false, total: .min) ?? 0 >= 0)
        }
    }

    @Test("of equals the first dies up to 5.2, the last from 5.3 on")
    func ties() {
        for (rule, victim) in [
            (Self.rule(3, 4), 1), (Self.rule(3, 13), 1), (Self.rule(4, 19), 1), (Self.rule(5, 2), 1),
            (Self.rule(5, 3), 4), (Self.rule(6, 12), 4),
        ] {
            #expect(rule.victim(among: [3, 7, nil, 5, 7, 1]) == victim, "\(rule.release)")
            #expect(rule.victim(among: [nil, nil]) == nil && rule.victim(among: []) == nil)
        }
        #expect(Self.rule(5, 9).victim(among: [nil, -9, -3, -4]) == 2, "a negative score is one")
    }

    @Test("a child dies for its parent before 5.2, the one with most points")
    func children() {
        #expect(Self.rule(5, 1).childSacrificed(among: [2, nil, 9, 9]) == 2)
        #expect(Self.rule(5, 1).childSacrificed(among: [nil]) == nil)
        #expect(Self.rule(3, 4).childSacrificed(among: []) == nil)
        #expect(Self.rule(5, 2).childSacrificed(among: [2, nil, 9]) == nil)
    }

    @Test("what the kernel prints and what /proc says follow the release")
    func scores() {
        #expect(Self.rule(3, 4).printedScore(points: 651, total: 5) == 651)
        // Two reports of Linux 3.10 and 3.13: their points, their totals, the printed scores.
        #expect(Self.rule(3, 10).printedScore(points: 6_700_394, total: 10_283_998) == 651)
        #expect(Self.rule(3, 13).printedScore(points: 399_598, total: 434_726) == 919)
        #expect(Self.rule(5, 1).printedScore(points: 49_315, total: 25_600) == 1_926)
        #expect(Self.rule(5, 2).printedScore(points: 49_315, total: 25_600) == nil)
        #expect(Self.rule(3, 4).oomScore(points: 651, total: 5) == 651)
        #expect(Self.rule(5, 8).oomScore(points: 250_000, total: 1_000_000) == 250)
        #expect(Self.rule(5, 9).oomScore(points: 250_000, total: 1_000_000) == 833)
        #expect(Self.rule(5, 9).oomScore(points: -900_000, total: 1_000_000) == 66)
        #expect(Self.rule(5, 9).oomScore(points: nil, total: 1_000_000) == 0)
    }

    @Test("a release is read from what uname and reports say")
    func releases() {
        let known = [
            "5.15": KernelRelease(5, 15), "6.1.0-18-amd64": KernelRelease(6, 1),
            "3.10.0-1160.el7": KernelRelease(3, 10), "6.12.62+rpt-rpi-v8": KernelRelease(6, 12),
            "3.6.0+": KernelRelease(3, 6), "2.6.32-5": KernelRelease(2, 6), "4.4": KernelRelease(4, 4),
        ]
        for (text, release) in known { #expect(KernelRelease(text) == release, "\(text)") }
        for text in ["", "5", "5.", ".5", "5.x", "6.1a", "v5.10", "(5.10 by columns)", "٣.٤", "99999.1", "5.10 "] {
            #expect(KernelRelease(text) == (text == "5.10 " ? KernelRelease(5, 10) : nil), "\(text)")
        }
        #expect(KernelRelease(5, 9) < KernelRelease(5, 10) && KernelRelease(4, 20) < KernelRelease(5, 0))
        #expect(LinuxKernel.allCases.map(\.badness.release.description) == LinuxKernel.allCases.map(\.rawValue))
    }
}
