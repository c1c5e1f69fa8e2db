import Lifecycle
import Plan
import Quantities
import Reclaim
import Scenario
import Simulation
import Workload

// What a policy can be told about single processes. Only what makes it spare the process in the decision is tried, so a
// policy that does not know a score, a list of names, a band or a limit has no such search.
extension Explainer {
    /// The searches among what the policy is told about the process, or about another one in its place.
    func preferences(_ termination: Termination, _ record: DecisionRecord, _ app: Int) -> [any Quest] {
        guard !record.decision.isByMonitor, let victim = record.snapshot.process(termination.pid) else { return [] }
        let searches = [
            score(of: victim, record, app), band(of: victim, record, app), softLimit(of: victim, record, app),
        ]
        let changes = lists(victim, record) + screen(victim) + omission(of: victim, record, app)
        return searches.compactMap(\.self) + (changes.isEmpty ? [] : [Attempts(changes)])
    }

    // MARK: Scores

    /// The steps of a search for an `oom_score_adj`.
    private static let scoreUnit = 10

    /// A lower `oom_score_adj`, down to the one that exempts the process.
    private func score(of victim: ProcessSnapshot, _ record: DecisionRecord, _ app: Int) -> (any Quest)? {
        let (present, lowest) = (victim.oomScoreAdj, LinuxScore.exempt)
        guard present > lowest, turns(record, victim: victim.pid, { $0.declaredOomScoreAdj = lowest }) else {
            return nil
        }
        func value(_ step: Int) -> Int { max(lowest, present - step * Explainer.scoreUnit) }
        let last = (present - lowest + Explainer.scoreUnit - 1) / Explainer.scoreUnit
        return SizeQuest("\(plan.place(of: app)).oom_score_adj down to", last: last) {
            "\(value($0))"
        } change: {
            plan.own(app, "oom_score_adj", optional: \.oomScoreAdj, to: value($0), .preference)
        }
    }

    /// systemd-oomd is told to leave the process alone.
    private func omission(of victim: ProcessSnapshot, _ record: DecisionRecord, _ app: Int) -> [Change] {
        guard turns(record, victim: victim.pid, { $0.linux.preference = .omit }) else { return [] }
        return [plan.own(app, "managed_oom_preference", \.managedOOMPreference, to: .omit, .preference)]
    }

    // MARK: Lists of names

    /// The policy's lists of names, each with the process added or removed, or with the next victim added. Which app is
    /// the home app is a fact, and no preference.
    private func lists(_ victim: ProcessSnapshot, _ record: DecisionRecord) -> [Change] {
        guard let type = PolicyCatalogue.type(named: plan.policy.name), plan.policy.rules.isEmpty else { return [] }
        let next = next(after: victim, record)
        let values = type.present(plan.policy.parameters, on: plan.device.size(ofRAM: plan.device.ceiling))
        return zip(type.parameterTable, values).flatMap { parameter, value -> [Change] in
            guard case .names(let names) = value, parameter.name != "home" else { return [] }
            var others = [names.contains(victim.name) ? names.filter { $0 != victim.name } : names + [victim.name]]
            if let next, !names.contains(next) { others.append(names + [next]) }
            return others.compactMap { list(parameter.name, names, $0, victim, record) }
        }
    }

    /// The policy with another list, if it then spares the process in the decision.
    private func list(
        _ parameter: String, _ present: [String], _ names: [String], _ victim: ProcessSnapshot, _ record: DecisionRecord
    ) -> Change? {
        let value = ParameterValue.names(names)
        var other = plan
        other.policy.parameters.removeAll { $0.name == parameter }
        other.policy.parameters.append(.init(name: parameter, value: value))
        guard turns(other.policy, record, victim: victim.pid) else { return nil }
        return Change(
            .preference, "\(parameter) = \(value) instead of \(ParameterValue.names(present))",
            ["policy.parameters.\(parameter)=\(value)"], other)
    }

    /// The app of the process that the decision would have ended in place of the victim.
    private func next(after victim: ProcessSnapshot, _ record: DecisionRecord) -> String? {
        zip(record.decision.ranking, record.refusals).dropFirst((record.chosen ?? 0) + 1).first { candidate, refusal in
            candidate.action.isTermination && candidate.action.target != victim.pid && refusal == nil
        }.flatMap { record.snapshot.process($0.0.action.target)?.name }
    }

    // MARK: Bands and limits

    /// The steps of a search for a band.
    private static let bandUnit = 10
    /// The highest band that is tried: those above are the kernel's own.
    private static let highestBand = 190

    /// A higher band for a daemon that was ended while it worked.
    private func band(of victim: ProcessSnapshot, _ record: DecisionRecord, _ app: Int) -> (any Quest)? {
        guard let part = plan.apps[app].part, part.kind == .daemon, victim.band.number == part.band else { return nil }
        let (present, unit) = (part.band, Explainer.bandUnit)
        let last = (Explainer.highestBand - present) / unit
        guard last > 0, turns(record, victim: victim.pid, { $0.band = .init(Explainer.highestBand) }) else {
            return nil
        }
        return SizeQuest("\(plan.place(of: app)).band up to", last: last) {
            "\(present + $0 * unit)"
        } change: {
            var life = part
            life.band = present + $0 * unit
            var other = plan
            other.apps[app].part = life
            let key = "\(plan.place(of: app)).band"
            return Change(
                .preference, "\(key) = \(life.band) instead of \(present)", ["\(key)=\(life.band)"], other)
        }
    }

    /// A higher limit for a process that was ended for the limit that it is over.
    private func softLimit(of victim: ProcessSnapshot, _ record: DecisionRecord, _ app: Int) -> (any Quest)? {
        guard let limit = victim.limit, turns(record, victim: victim.pid, { $0.limit = nil }) else { return nil }
        return raised(plan.apps[app].limits.inactive == limit.bytes, limit.bytes, of: app)
    }

    /// The screen protects what is on it, where the scenario does not say so.
    private func screen(_ victim: ProcessSnapshot) -> [Change] {
        guard victim.isInFront, !plan.limits.protectForeground else { return [] }
        return [Change(.limit, of: plan, "limits.protect_foreground", \.limits.protectForeground, to: true)]
    }
}
