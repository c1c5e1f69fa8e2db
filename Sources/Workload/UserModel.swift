import Quantities

/// A person with a phone.
public enum UserModel: String, CaseIterable, Sendable {
    /// Whole days, with night and rush hours; the clock begins at midnight.
    case everyday
    /// On the way: one session after the other, some minutes apart.
    case commuter
}
