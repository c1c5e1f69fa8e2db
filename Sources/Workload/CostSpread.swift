import Quantities

/// How much an app's costs vary between uses of the app.
///
/// The costs of a profile are medians. Each event of the user or the system that opens or wakes the app draws a
/// log-normal factor. The factor multiplies all costs of the app until the next such event.
public struct CostSpread: Hashable, Sendable {
    /// The standard deviation of the factor's natural logarithm. Zero: every cost stays at its median.
    public var sigma: Ratio
    /// The costs that stay at their medians.
    public var except: [CostName]

    /// By default no spread.
    public init(sigma: Ratio = .zero, except: [CostName] = []) {
        self.sigma = sigma
        self.except = except
    }

    /// The spread of archetypes: one launch in ten takes at least 1.57 times the median.
    ///
    /// A guess: no source gives a whole distribution of launch times. We assume that the 90th percentile of ordinary
    /// apps is about 1.6 times the median.
    public static let ofArchetypes = CostSpread(sigma: .percent(35))

    /// The next factor, with a median of 1. The deviation is cut at four times sigma.
    public func factor(using generator: inout SeededGenerator) -> Double {
        let deviation = max(-4, min(4, generator.normal()))
        return exponential(deviation * Double(sigma.partsPerMillion) / 1_000_000)
    }
}

/// A cost that may have a spread; the raw values are the names in scenarios.
public enum CostName: String, CaseIterable, Sendable {
    case process
    case launch
    case firstLaunch = "first_launch"
    case connect
    case enterForeground = "enter_foreground"
    case activate
    case resignActive = "resign_active"
    case enterBackground = "enter_background"
    case disconnect
    case terminate
    case event
    /// `deferred.work`.
    case deferredWork = "deferred_work"
}

/// An app's costs after a draw, in whole microseconds.
public struct DrawnCosts: Hashable, Sendable {
    /// How long each callback keeps the main thread busy.
    public let callbacks: CallbackCosts
    /// How long the launch's deferred work occupies a core.
    public let deferredWork: TimeSpan

    /// The profile's costs, multiplied by the factor unless the profile's spread excepts them.
    public init(of profile: AppProfile, times factor: Double = 1) {
        func drawn(_ name: CostName, _ median: TimeSpan) -> TimeSpan {
            guard !profile.spread.except.contains(name) else { return median }
            return TimeSpan(microseconds: Int64((Double(median.microseconds) * factor).rounded()))
        }
        let medians = profile.costs
        callbacks = CallbackCosts(
            process: drawn(.process, medians.process), launch: drawn(.launch, medians.launch),
            firstLaunch: drawn(.firstLaunch, medians.firstLaunch), connect: drawn(.connect, medians.connect),
            enterForeground: drawn(.enterForeground, medians.enterForeground),
            activate: drawn(.activate, medians.activate), resignActive: drawn(.resignActive, medians.resignActive),
            enterBackground: drawn(.enterBackground, medians.enterBackground),
            disconnect: drawn(.disconnect, medians.disconnect), terminate: drawn(.terminate, medians.terminate),
            event: drawn(.event, medians.event))
        deferredWork = drawn(.deferredWork, profile.deferred.work)
    }
}
