import Foundation
import Memory
import Plan
import Quantities

/// Facts about the host and this process, from the kernel.
package enum HostMachine {
    /// A field of `/proc/self/status` in bytes, for example `VmHWM`; nil where there is no such file.
    static func processMemory(_ field: String) -> ByteCount? {
        kibibytes(field + ":", in: "/proc/self/status")
    }

    /// Refuses work that opens files where this process may open too few, before anything is begun.
    ///
    /// - Parameters:
    ///   - count: How many files the work has open at a time.
    ///   - work: What needs them, for the message.
    package static func demandFiles(_ count: Int, for work: String) throws(Failure) {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < count {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                throw Failure(
                    .hostRefuses,
                    "\(work) needs \(count) further open files, and this process may open \(opened.count) (ulimit -n); "
                        + "raise the limit")
            }
            opened.append(descriptor)
        }
    }

    /// The memory that this process can still get without swapping; nil where the kernel does not say.
    package static var freeMemory: FreeMemory? {
        let host = kibibytes("MemAvailable:", in: "/proc/meminfo").map { FreeMemory(giver: "the host", size: $0) }
        let group = MemoryGroups().tightest.map {
            FreeMemory(giver: "the memory group (cgroup) \($0.group)", size: $0.room)
        }
        guard let host, let group else { return host ?? group }
        return group.size < host.size ? group : host
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

    /// Why the run's device is larger than the scenario's, in words to put in brackets. Nil if it is not larger.
    static func largerDevice(of plan: RunPlan) -> String? {
        guard plan.effectiveCeiling > plan.device.ceiling else { return nil }
        return "\(plan.policy.name) has unlimited memory: its device is up to \(RunPlan.unboundedFactor) times the "
            + "ceiling of \(plan.device.ceiling.readable)"
    }

    /// Makes the device of a run; a refusal by the host is status 71.
    package static func makeDevice(of plan: RunPlan) throws(Failure) -> any DeviceMemory {
        do {
            return try plan.makeDevice()
        } catch {
            let advice =
                plan.backend == .jemalloc ? "; --backend accounting needs no such memory, and --scale needs less" : ""
            let why = largerDevice(of: plan).map { " (\($0))" } ?? ""
            throw Failure(.hostRefuses, "\(error)\(why)\(advice)")
        }
    }

    /// Asks the kernel to kill this process first when the host runs out of memory; not every host allows that.
    package static func volunteerForOutOfMemory() {
        guard let file = FileHandle(forWritingAtPath: "/proc/self/oom_score_adj") else { return }
        try? file.write(contentsOf: Data("800\n".utf8))
        try? file.close()
    }

    /// CPU time of this process, user and system.
    package static var cpuSeconds: Double { usage.cpuSeconds }

    /// The peak resident memory of this process so far, from the kernel.
    package static var peakKibibytes: Int { usage.ru_maxrss }

    private static var usage: rusage {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage
    }

    package static var kernel: String {
        var name = utsname()
        guard uname(&name) == 0 else { return "unknown" }
        func text<T>(_ field: T) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return "\(text(name.sysname)) \(text(name.release)) \(text(name.machine))"
    }
}

/// Free memory, and the host or memory group whose limit it follows from.
package struct FreeMemory {
    /// In words: the host, or the memory group if that leaves less.
    package let giver: String
    package let size: ByteCount
}

/// This process's memory at one moment, from the kernel; nil where the kernel does not say.
struct HostMemory {
    /// The peak so far (VmHWM).
    let peak = HostMachine.processMemory("VmHWM")
    let anonymous = HostMachine.processMemory("RssAnon")
    let files = HostMachine.processMemory("RssFile")
}

extension rusage {
    /// CPU time, user and system.
    var cpuSeconds: Double {
        [ru_utime, ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1_000_000 }
    }
}
