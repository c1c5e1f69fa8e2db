/// How soon a person notices that work is late: Apple's quality-of-service classes, the most urgent first.
///
/// Source of the names and of their order: Apple's `QualityOfService`. XNU gives threads of these classes the
/// priorities 46, 37, 31, 20 and 4 (osfmk/kern/thread_policy.c).
public enum ServiceClass: Int, CaseIterable, Comparable, Sendable {
    case userInteractive
    case userInitiated
    case standard
    case utility
    case background

    /// The more urgent class comes first.
    public static func < (a: ServiceClass, b: ServiceClass) -> Bool { a.rawValue < b.rawValue }

    /// The name in files; Apple's `default` is a word of the language.
    public var name: String {
        switch self {
        case .userInteractive: "user_interactive"
        case .userInitiated: "user_initiated"
        case .standard: "default"
        case .utility: "utility"
        case .background: "background"
        }
    }
}
