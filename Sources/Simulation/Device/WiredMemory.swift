import Memory
import Plan
import Quantities

/// Memory that the system wires beyond `reserved`, over time (`device.wired`): for example what a game's graphics take.
///
/// It is real memory in a slot of its own, and belongs to no process. The device's books count it as `reserved`. It
/// takes free memory and, on a device without a kernel, clean pages of files. What it does not find then, it waits for:
/// it tries again at each sample, as the kernel's own allocations wait for pages. Nobody compresses it, and no policy
/// can take it.
final class WiredMemory {
    private static let page = 4_096
    /// The sizes of one allocation.
    private static let chunk = [Int](repeating: page, count: 512)

    private let points: [WiredPoint]
    private let slot: MemorySlot
    private let pool: PoolID
    /// What is to be wired at present: whole pages, in bytes of the device that is meant.
    private var wanted = ByteCount.zero
    private let files: FileCache?
    private let memory: any DeviceMemory
    private let faults: RunFaults

    /// Nil for a device whose wired memory never changes.
    ///
    /// - Parameters:
    ///   - points: What is wired from each instant on, ordered by time.
    ///   - files: Whose clean pages go if no memory is free; nil: something else frees memory.
    init?(_ points: [WiredPoint], files: FileCache?, memory: any DeviceMemory, faults: RunFaults) {
        guard !points.isEmpty else { return nil }
        do throws(AllocatorError) {
            slot = try memory.makeProcess()
        } catch {
            faults.fail("\(error)")
            return nil
        }
        memory.holdsWired(slot)
        pool = memory.makePool(in: slot)
        self.points = points
        self.files = files
        self.memory = memory
        self.faults = faults
    }

    /// What is wired, in bytes of the device that is meant.
    private var held: ByteCount { memory.requested(in: pool) }

    /// The plan may say another size from now on.
    func follow(at now: Instant) {
        guard let point = points.last(where: { .zero + $0.at <= now }) else { return }
        wanted = point.size.unscaled(by: memory.scale).roundedUp(toMultipleOf: WiredMemory.page)
        let surplus = held - wanted
        guard surplus > .zero else { return grow() }
        _ = memory.release(surplus, from: pool, order: .oldestFirst)
        do throws(AllocatorError) { _ = try memory.purge(slot) } catch { faults.fail("\(error)") }
    }

    /// Takes as much of what is wanted as there is memory for.
    func grow() {
        var left = (wanted - held).bytes / WiredMemory.page
        guard left > 0 else { return }
        let missing = ByteCount(left * WiredMemory.page) * memory.scale - memory.available
        if missing > .zero { _ = files?.giveBack(missing) }
        while left > 0 {
            let count = min(left, WiredMemory.chunk.count)
            let made = memory.allocate(WiredMemory.chunk.span.extracting(first: count), in: pool, limit: nil)
            left -= made.objects
            if made.refusal != nil { return }
        }
    }

    /// The run is over: all of it goes back to the device.
    func end() {
        do throws(AllocatorError) { _ = try memory.endProcess(slot) } catch { faults.fail("\(error)") }
    }
}
