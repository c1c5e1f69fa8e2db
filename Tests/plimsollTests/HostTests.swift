import Foundation
import Lifecycle
import Memory
import Plan
import Quantities
import Reclaim
import Simulation
import Testing
import Workload

@testable import RunFolders
@testable import plimsoll

@Suite("a run that the host has no memory for")
struct HostTests {
    private func within(_ body: (URL) throws -> Void) throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    /// Writes a scenario with one app that fills the device with objects of one size.
    private func write(_ folder: URL, ceiling: String, base: String, objects: String) throws {
        let text = """
            plimsoll: 1
            name: s
            duration: 1s
            device: { ceiling: \(ceiling), reserved: 1MiB }
            policy: none
            apps:
              - name: a
                memory: { base: \(base), scene: 0B, cache: { size: 0B }, objects: { constant: \(objects) } }
                background: { snapshot: 0B }
            user:
              - { at: 0s, launch: a }

            """
        try Data(text.utf8).write(to: folder.appending(path: "s.yaml"))
    }

    /// Whether the host has no room for 32 GiB.
    private var isSmall: Bool { ProcessInfo.processInfo.physicalMemory < 33 << 30 }

    @Test("is refused with status 71 and one line, before anything is made", arguments: MemoryBackend.allCases)
    func refused(backend: MemoryBackend) throws {
        guard isSmall else { return }
        try within { folder in
            try write(folder, ceiling: "32GiB", base: "30GiB", objects: "1B")
            let run = ["run", "s.yaml", "--backend", backend.rawValue, "--out", "r"]
            let result = try Program.run(run, in: folder)
            #expect(result.status == 71, "\(result.error)")
            #expect(result.error.split(separator: "\n").count == 1, "\(result.error)")
            let parts = [
                "free, but the run may need", "bookkeeping of up to 42", "larger memory.objects", "--ignore-host",
            ]
            for part in parts {
                #expect(result.error.contains(part), "\(part): \(result.error)")
            }
            #expect(result.error.contains("32.0 GiB for the device's pages") == (backend == .jemalloc))
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "r").path()))
            let doctor = try Program.run(["doctor", "s.yaml", "--backend", backend.rawValue], in: folder)
            #expect(doctor.status == 71 && doctor.out.contains("This host cannot run this scenario as it is."))
            #expect(doctor.out.contains("free, but the run may need"), "\(doctor.out)")
            let sweep = ["sweep", "s.yaml", "--backend", backend.rawValue, "--vary", "device.cores=1,2"]
            let swept = try Program.run(sweep + ["--jobs", "1", "--out", "w"], in: folder)
            #expect(swept.status == 71 && swept.error.contains("larger memory.objects"), "\(swept.error)")
        }
    }

    @Test("a device that is not filled is no reason, nor are large objects on the accounting backend")
    func fits() throws {
        try within { folder in
            try write(folder, ceiling: "32GiB", base: "20MiB", objects: "64KiB")
            for backend in MemoryBackend.allCases {
                let run = ["run", "s.yaml", "--backend", backend.rawValue, "--quiet", "--out", backend.rawValue]
                let result = try Program.run(run, in: folder)
                #expect(result.status == 0, "\(result.error)")
                let doctor = try Program.run(["doctor", "s.yaml", "--backend", backend.rawValue], in: folder)
                #expect(doctor.status == 0 && doctor.out.contains("This host can run this scenario."), "\(doctor.out)")
            }
            try write(folder, ceiling: "32GiB", base: "30GiB", objects: "64KiB")
            let doctor = try Program.run(["doctor", "s.yaml", "--backend", "accounting"], in: folder)
            #expect(doctor.status == 0, "\(doctor.out)")
        }
    }

    @Test("is tried with --ignore-host; a limit on addresses stands for a host that refuses when it is asked")
    func ignored() throws {
        try within { folder in
            try write(folder, ceiling: "32GiB", base: "20GiB", objects: "64KiB")
            let run = ["run", "s.yaml", "--ignore-host", "--out", "r"]
            let result = try Program.run(run, in: folder, shell: "ulimit -v \(16 << 20); exec \"$@\"")
            #expect(result.status == 71, "\(result.error)")
            #expect(result.error.contains("the host did not map"), "\(result.error)")
        }
    }

    @Test("the line says what would help: the accounting backend, a scale model")
    func advice() throws {
        let app = AppProfile(
            name: "a", like: "test", scenes: SceneSupport(), backgroundModes: [],
            memory: MemoryProfile(base: .gibibytes(2), scene: .zero, objects: .constant(.kibibytes(4))),
            costs: CallbackCosts(), background: BackgroundDiscipline(), warnings: WarningDiscipline(),
            limits: ProcessLimits())
        var plan = RunPlan(
            name: "s", seed: 1, duration: .seconds(1), device: Device(ceiling: .gibibytes(2)), monitor: .ios,
            policy: PolicySettings(name: "none"), limits: Limits(), apps: [app], user: [])
        let group = FreeMemory(giver: "the memory group (cgroup) /a", size: .gibibytes(1))
        let refusal = try #require(HostMachine.refusal(of: plan, NoTraces(), group))
        let beginning = "the memory group (cgroup) /a has 1.0 GiB free, but the run may need 2."
        #expect(refusal.hasPrefix(beginning), "\(refusal)")
        #expect(refusal.contains("2.0 GiB for the device's pages"))
        #expect(refusal.contains("--backend accounting needs ") && refusal.contains("--scale 0.25 needs "))
        #expect(!refusal.contains("larger memory.objects"))
        plan.backend = .accounting
        #expect(HostMachine.refusal(of: plan, NoTraces(), group) == nil)
    }

    @Test("hundreds of MiB that nothing explains are a measurement warning")
    func unexplained() throws {
        let warning = try #require(MeasurementWarning(unexplained: 403 << 20))
        #expect(warning.text.contains("403.0 MiB of the host's memory"), "\(warning.text)")
        #expect(MeasurementWarning(unexplained: 20 << 20) == nil && MeasurementWarning(unexplained: nil) == nil)
        #expect(MeasurementWarning(unexplained: -(900 << 20)) == nil)
    }

    @Test("a build that is optimised and has checks says so, and one that is not optimised warns of its times")
    func builds() throws {
        #expect(MeasurementWarning.ofBuild(isOptimised: true) == .checks && EngineBuild.isOptimised)
        let slow = try #require(MeasurementWarning.ofBuild(isOptimised: false))
        #expect(slow == .notOptimised && slow.text.contains("not representative"))
    }
}
