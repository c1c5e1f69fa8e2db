import Lifecycle
import Pressure
import Quantities
import Testing

@testable import Reclaim

@Suite("control groups, as policies see them")
struct ControlGroupSnapshotTests {
    private func member(_ number: Int, _ group: Int?, _ phase: ProcessPhase = .suspended, size: Int) -> ProcessSnapshot
    {
        process(number, phase, idle: Int64(number) * 10, size: size) { process in
            process.linux.controlGroup = group
            process.swapped = .mebibytes(number)
            process.recentlyReclaimed = .kibibytes(number)
            process.growth = .percent(number == 1 ? 200 : 100)
        }
    }

    private func moment(_ processes: [ProcessSnapshot]) -> SystemSnapshot {
        device(0, processes) { snapshot in
            snapshot.groups = [ControlGroup(name: "x"), ControlGroup(name: "y"), ControlGroup(name: "empty")]
            snapshot.groups[0].preference = .avoid
        }
    }

    @Test("a group is one process with all that its processes hold")
    func joined() throws {
        let all = [
            member(1, 0, size: 40), member(2, nil, size: 10), member(3, 0, .background, size: 30),
            member(4, 1, size: 5),
        ]
        let joined = moment(all).joiningGroups
        #expect(joined.processes.map(\.pid.number) == [2, 3, 4])
        let whole = try #require(joined.process(ProcessID(3)))
        #expect(whole.name == "x" && whole.footprint == .mebibytes(70) && whole.swapped == .mebibytes(4))
        #expect(whole.recentlyReclaimed == .kibibytes(4) && whole.linux.preference == .avoid)
        // The shortest idle time, and 70 MiB of which the averages are 20 and 30 MiB.
        #expect(whole.idleTime(at: now) == .seconds(10) && whole.growth == .percent(140))
        #expect(joined.process(ProcessID(2)) == all[1])
        #expect(moment(all).processes == all)
        var plain = moment(all)
        plain.groups = []
        #expect(plain.joiningGroups.processes == all)
    }

    @Test("who waits for memory stands for its group, else what is in front, else the highest band")
    func leader() {
        var snapshot = moment([
            member(1, 0, size: 1), member(2, 0, .active, size: 1), member(3, 0, .background, size: 1),
        ])
        #expect(snapshot.joiningGroups.processes.map(\.pid.number) == [2])
        snapshot.demand = .allocation(by: ProcessID(1), wanted: .mebibytes(1))
        #expect(snapshot.joiningGroups.processes.map(\.pid.number) == [1])
        snapshot = moment([member(1, 0, size: 1), member(3, 0, .background, size: 1)])
        #expect(snapshot.joiningGroups.processes.map(\.pid.number) == [3])
    }

    @Test("the victims of a candidate are its target and the others of its group")
    func victims() {
        var exempt = member(5, 0, size: 2)
        exempt.declaredOomScoreAdj = -1_000
        let snapshot = moment([member(1, 0, size: 1), member(2, 0, size: 1), member(4, 1, size: 1), exempt])
        var candidate = Candidate(.terminate(ProcessID(1)), score: 0, reason: "")
        #expect(snapshot.victims(of: candidate).map(\.pid.number) == [1])
        candidate.groupEnd = GroupEnd(of: 0, sparesExempt: true)
        #expect(snapshot.victims(of: candidate).map(\.pid.number) == [1, 2])
        candidate.groupEnd = GroupEnd(of: 0, sparesExempt: false)
        #expect(snapshot.victims(of: candidate).map(\.pid.number) == [1, 2, 5])
        let warning = Candidate(.warn(ProcessID(1)), score: 0, reason: "")
        #expect(snapshot.victims(of: warning).isEmpty)
    }

    @Test("the kernel's adjustment in a group is a share of the group's limit")
    func badness() {
        var adjusted = member(1, 0, size: 1)
        adjusted.declaredOomScoreAdj = 100
        var plain = member(2, 0, size: 10)
        plain.declaredOomScoreAdj = 0
        let snapshot = moment([adjusted, plain])
        // A tenth of the device's 1000 MiB are more than 10 MiB, a tenth of the group's 50 MiB are not.
        #expect(snapshot.rankingByBadness(.standard).victims.first == 1)
        #expect(snapshot.rankingByBadness(.standard, of: .mebibytes(50)).victims.first == 2)
    }
}
