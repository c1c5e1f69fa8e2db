import Foundation
import Memory
import Quantities
import Simulation

/// What the host says of itself and of this process.
enum Host {
    /// A field of `/proc/self/status` in bytes, for example `VmHWM`; nil where there is no such file.
    static func processMemory(_ field: String) -> ByteCount? {
        kibibytes(field + ":", in: "/proc/self/status")
    }

    /// What the host could still give without swapping.
    static var availableMemory: ByteCount? {
        let free = kibibytes("MemAvailable:", in: "/proc/meminfo")
        guard let group = memoryGroupRoom else { return free }
        return min(free ?? group, group)
    }

    static var totalMemory: ByteCount? { kibibytes("MemTotal:", in: "/proc/meminfo") }

    private static func kibibytes(_ field: String, in path: String) -> ByteCount? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix(field) {
            let number = line.dropFirst(field.count).split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }
            return number.map(ByteCount.kibibytes)
        }
        return nil
    }

    /// What this process's cgroup (version 2) may still take; nil without a limit.
    private static var memoryGroupRoom: ByteCount? {
        guard let text = try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8) else { return nil }
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::") }) else { return nil }
        let folder = "/sys/fs/cgroup" + line.dropFirst(3)
        func number(_ name: String) -> Int? {
            let text = try? String(contentsOfFile: folder + "/" + name, encoding: .utf8)
            return text.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        }
        guard let most = number("memory.max"), let current = number("memory.current") else { return nil }
        return ByteCount(max(0, most - current))
    }

    /// What a run on real memory takes beside its ceiling.
    static func overhead(of plan: RunPlan) -> ByteCount {
        // jemalloc's bookkeeping is about 134 KiB per arena; the harness itself and its tables take some tens of MiB.
        .kibibytes(134) * plan.apps.count + .mebibytes(48) + plan.neededMemory * .percent(3)
    }

    /// Why a device is larger than the scenario says, in words that go into brackets; nil where it is not.
    static func largerDevice(of plan: RunPlan) -> String? {
        guard plan.effectiveCeiling > plan.device.ceiling else { return nil }
        return "\(plan.policy.name) has no end of memory: its device is up to \(RunPlan.unboundedFactor) times the "
            + "ceiling of \(plan.device.ceiling.readable)"
    }

    /// The device of a run.
    static func makeDevice(of plan: RunPlan) throws(Failure) -> any DeviceMemory {
        do {
            return try plan.makeDevice()
        } catch {
            let advice = plan.backend == .jemalloc ? "; --backend accounting needs no memory, --scale less" : ""
            let why = largerDevice(of: plan).map { " (\($0))" } ?? ""
            throw Failure(.hostRefuses, "\(error)\(why)\(advice)")
        }
    }

    /// A host in trouble kills this process rather than a neighbour. Not every host lets us.
    static func volunteerForOutOfMemory() {
        guard let file = FileHandle(forWritingAtPath: "/proc/self/oom_score_adj") else { return }
        try? file.write(contentsOf: Data("800\n".utf8))
        try? file.close()
    }

    /// CPU time of this process, user and system.
    static var cpuSeconds: Double {
        var usage = rusage()
        guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    static var kernel: String {
        var name = utsname()
        guard uname(&name) == 0 else { return "unknown" }
        func text<T>(_ field: T) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return "\(text(name.sysname)) \(text(name.release)) \(text(name.machine))"
    }
}

/// What the kernel says of this process's memory at one moment; nil where it says nothing.
struct HostMemory {
    /// The peak so far (VmHWM).
    let peak = Host.processMemory("VmHWM")
    let anonymous = Host.processMemory("RssAnon")
    let files = Host.processMemory("RssFile")
}
