import ArgumentParser
import Foundation
import Memory
import Quantities

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Says whether this host can run scenarios, and tries the allocator for real.",
        discussion: "Exit status 71 when something that a run needs is missing.")

    func run() throws {
        try reporting {
            var isWell = true
            func row(_ holds: Bool, _ what: String, _ found: String) {
                isWell = isWell && holds
                Terminal.say("\(holds ? Terminal.green("ok  ") : Terminal.red("FAIL"))  \(pad(what, 18))  \(found)")
            }
            row(true, "plimsoll", "\(plimsollVersion), build \(BuildIdentity.short(BuildIdentity.current))")
            row(true, "kernel", Host.kernel)
            row(true, "cores", "\(ProcessInfo.processInfo.activeProcessorCount)")
            allocator(row)
            if let free = Host.freeMemory {
                row(free.size >= .mebibytes(128), "free memory", "\(free.size.readable), of \(free.giver)")
            } else {
                row(true, "free memory", "unknown on this host")
            }
            trial(row)
            Terminal.say(isWell ? "This host can run scenarios." : "This host cannot run scenarios as it is.")
            return isWell ? .success : ExitStatus.hostRefuses.code
        }
    }

    private func allocator(_ row: (Bool, String, String) -> Void) {
        do {
            let allocator = try AllocatorDescription()
            row(true, "jemalloc", allocator.version)
            row(true, "compiled options", allocator.compiledOptions)
            if let foreign = allocator.foreignEnvironment ?? allocator.foreignFile {
                row(true, "foreign options", "\(foreign): unset them, results may differ")
            }
        } catch {
            row(false, "jemalloc", "\(error)")
        }
    }

    /// A process on real memory, filled, compared with jemalloc's statistics, and ended.
    private func trial(_ row: (Bool, String, String) -> Void) {
        do {
            let device = try makeDeviceMemory(.jemalloc, ceiling: .mebibytes(16), reserved: .mebibytes(1))
            let slot = try device.makeProcess()
            let pool = device.makePool(in: slot)
            let sizes = [Int](repeating: 10_000, count: 500)
            let result = device.allocate(sizes.span, in: pool, limit: nil)
            try device.audit()
            let footprint = device.books(of: slot).footprint
            _ = try device.endProcess(slot)
            try device.audit()
            row(
                result.objects == 500 && device.books.resident == .mebibytes(1), "trial",
                "500 objects in \(footprint.readable), books equal jemalloc's statistics, nothing left")
        } catch {
            row(false, "trial", "\(error)")
        }
    }
}
