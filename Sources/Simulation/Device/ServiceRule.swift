import Lifecycle

/// Which class of service a process has, by what the user sees of it.
///
/// Our own rule, after Apple's advice on quality of service: what the user waits for comes first, what the user does
/// not see comes last. The system's own work (taking pages back) has the most urgent class: XNU's jetsam thread has
/// priority 95, above every app (bsd/kern/kern_memorystatus.c).
struct ServiceRule {
    /// Without priorities everything has one class.
    let hasPriorities: Bool
    /// On slow cores, if there are any, the compressor works, for the freezer, too: XNU binds it to them
    /// (`vm_compressor.c`, since iOS 14).
    let hasSlowCores: Bool
    let display: Display
    let processes: ProcessTable

    /// The class of a piece of work; nil: its process is suspended or dead.
    func service(of order: WorkOrder) -> ServiceClass? {
        guard let owner = order.owner else {
            guard hasPriorities else { return .standard }
            let compresses = order.kind == .compress || order.kind == .freeze
            return compresses && hasSlowCores ? .background : .userInteractive
        }
        guard let process = processes.process(owner), process.phase != .suspended else { return nil }
        guard hasPriorities else { return .standard }
        if order.purpose == .background { return .background }
        // Nothing on screen waits for deferred work.
        return order.kind == .deferredWork ? max(service(of: process), .utility) : service(of: process)
    }

    /// The class of a process's main thread, and of its place among those that wait for memory.
    func service(of process: LiveProcess) -> ServiceClass {
        guard hasPriorities else { return .standard }
        if display.isShown(process.app) && process.course.goal != .background { return .userInteractive }
        // It works for the app in front.
        if process.course.companion?.isForeground == true { return .userInteractive }
        guard process.phase.isForeground else { return .background }
        // On the second display, or on its way from the screen.
        return display.externalApp == process.app ? .userInteractive : .userInitiated
    }
}
