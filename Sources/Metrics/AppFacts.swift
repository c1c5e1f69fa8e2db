/// All facts of one app of a run, from which its row of `app_summary.csv` is computed.
public struct AppFacts: Sendable {
    /// What happened to the app, apart from launches and terminations.
    public let tally: AppTally
    /// Its launches by the user, in order.
    public fileprivate(set) var launches: [RunTally.LaunchFact] = []
    /// Its processes that the system ended, in order.
    public fileprivate(set) var terminations: [RunTally.TerminationFact] = []
    /// The processes of other apps that ended for this app's sake, in order.
    public fileprivate(set) var paid: [RunTally.TerminationFact] = []

    fileprivate init(_ tally: AppTally) { self.tally = tally }
}

extension RunTally {
    /// The facts of each app, in the scenario's order.
    public var appFacts: [AppFacts] {
        var facts = apps.map { AppFacts($0) }
        var places: [String: Int] = [:]
        for (place, app) in apps.enumerated() { places[app.name] = place }
        for launch in launches { if let place = places[launch.app] { facts[place].launches.append(launch) } }
        for end in terminations {
            if let place = places[end.app] { facts[place].terminations.append(end) }
            guard let payee = end.beneficiary?.app, payee != end.app, let place = places[payee] else { continue }
            facts[place].paid.append(end)
        }
        return facts
    }
}
