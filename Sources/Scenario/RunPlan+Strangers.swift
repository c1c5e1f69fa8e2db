import Plan
import Reclaim

extension RunPlan {
    /// Warnings to print when the scenario is checked or run, one line each. None of them is a fault.
    ///
    /// - Parameter speaker: The beginning of a line that concerns no place in the scenario's text.
    public func warnings(from speaker: String) -> [String] {
        let advice = PolicyCatalogue.type(named: policy.name)?.advice
        let general = [idleness, advice].compactMap(\.self)
        return remarks + (general + strangers + idleSettings).map { "\(speaker): warning: \($0)" }
    }

    /// A sentence that says that nothing happens in the scenario; nil if something does.
    private var idleness: String? {
        guard user.isEmpty, let app = apps.first else { return nil }
        return "there are no events under user, so no app is ever opened; add some, such as "
            + "{ at: 0s, launch: \(app.name) }"
    }

    /// Sentences about names in the policy's rules and parameters that match no app. They are no faults, because a
    /// policy file may serve several scenarios.
    public var strangers: [String] {
        let names = apps.map(\.name)
        var found: [String] = []
        for (place, name) in named where !names.contains(name) {
            let advice = Nearest.name(to: name, among: names).map { "; did you mean '\($0)'?" } ?? ""
            let sentence = "\(place): no app is called '\(name)'\(advice)"
            if !found.contains(sentence) { found.append(sentence) }
        }
        return found
    }

    /// Sentences about settings that can have no effect: the policy's rules and parameters that concern a part that the
    /// device lacks, and entitlements without a limit. They are no faults, because a policy file and an app may serve
    /// several devices.
    var idleSettings: [String] {
        var found = apps.filter(\.isEntitled).compactMap { app -> String? in
            if app.limits.active != nil { return "app '\(app.name)': entitled has no effect beside limits.active" }
            guard device.entitledLimit == nil else { return nil }
            return "app '\(app.name)': entitled has no effect: no device.entitled_limit is known"
        }
        for (place, part) in policyParts where !has(part) {
            let remedy =
                switch part {
                case .swap where device.compressor != nil: "the device's compressor is no swap; see device.swap"
                case .swap: "the device has no swap; device.compressor gives it one"
                case .compressor: "the device has no compressor; device.compressor gives it one"
                case .fileCache: "the device has no file cache; device.file_cache gives it one"
                case .freezer: "the device has no freezer; device.freezer gives it one"
                }
            let sentence = "\(place) has no effect: \(remedy)"
            if !found.contains(sentence) { found.append(sentence) }
        }
        return found
    }

    private func has(_ part: DevicePart) -> Bool {
        switch part {
        case .swap: device.hasSwap
        case .compressor: device.compressor != nil
        case .fileCache: device.fileCache != nil
        case .freezer: device.freezer != nil
        }
    }

    /// What the policy's rules and parameters need of the device, and the place.
    private var policyParts: [(place: String, part: DevicePart)] {
        var parts: [(String, DevicePart)] = []
        let table = policy.table
        // A device by name sets what its real policy has, for the case that the scenario adds the part.
        let preset = device.like.flatMap { DevicePreset.named($0)?.policy.value }
        let ofPreset = preset?.name == policy.name ? preset : nil
        let presets = [ofPreset, ofPreset?.scaled(by: device.scale)].flatMap { $0?.parameters ?? [] }
        for given in policy.parameters where !presets.contains(given) {
            let parameter = table.first { $0.name == given.name }
            guard let part = parameter?.part, given.value != parameter?.standard else { continue }
            parts.append(("parameter '\(given.name)'", part))
        }
        for rule in policy.rules {
            for claim in rule.when.claims + (rule.until?.claims ?? []) {
                if let part = claim.measure.part { parts.append(("rule '\(rule.name)': '\(claim)'", part)) }
            }
            for claim in rule.who.claims + rule.order.flatMap(\.members.claims) {
                if let part = claim.feature.part { parts.append(("rule '\(rule.name)': '\(claim)'", part)) }
            }
            if let part = rule.action.part { parts.append(("rule '\(rule.name)': \(rule.action.rawValue)", part)) }
        }
        return parts
    }

    /// Every app that the policy names, and the place.
    private var named: [(place: String, name: String)] {
        var named: [(String, String)] = []
        for parameter in policy.parameters {
            guard case .names(let names) = parameter.value else { continue }
            named += names.map { ("parameter '\(parameter.name)'", $0) }
        }
        for rule in policy.rules {
            let claims = rule.who.claims + rule.order.flatMap(\.members.claims)
            for claim in claims where claim.feature == .app {
                if case .word(let name) = claim.value { named.append(("rule '\(rule.name)'", name)) }
            }
        }
        return named
    }
}
