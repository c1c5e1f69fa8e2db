import Lifecycle
import Metrics
import Quantities
import Reclaim
import Scenario
import Simulation

// Describes in words what would save a process, and what that costs.
extension Explainer {
    /// What would save the process, how to try it, and what it costs.
    func saved(_ termination: Termination) throws -> [String] {
        let counsel = try counsel(for: termination)
        guard let first = counsel.advices.first else { return hopeless(counsel, termination) }
        var lines: [String] = []
        for (index, advice) in counsel.advices.enumerated() {
            let text = index == 0 ? best(advice, termination) : others(advice, termination, after: first)
            lines += paragraph(index == 0 ? "What saves it:" : "Or:", text + ":") + command(advice.change)
            lines += price(advice.price, termination, isFirst: index == 0)
        }
        return lines + inVain(counsel.failures)
    }

    // MARK: The change

    /// The change with the lowest price.
    private func best(_ advice: Advice, _ termination: Termination) -> String {
        let life = life(advice, termination)
        if advice.price.isFair { return "\(advice.change.words); \(life)" }
        return advice.price.isSaved
            ? "nothing that is worth its price: with \(advice.change.words) \(life), but the run as a whole is "
                + "worse"
            : "nothing for good: with \(advice.change.words) \(life)"
    }

    private func others(_ advice: Advice, _ termination: Termination, after first: Advice) -> String {
        // How long it lives is said again where it differs.
        advice.fate == first.fate ? advice.change.words : "\(advice.change.words); \(life(advice, termination))"
    }

    /// How long the process lives with the change.
    private func life(_ advice: Advice, _ termination: Termination) -> String {
        switch advice.fate {
        case .stays, .isAbsent: return "it is still there when the run ends"
        case .ends(let at, let reason, _):
            let wanted = advice.price.isSaved ? "" : ", before the user wants it again"
            let ends =
                switch ExitReason(rawValue: reason) {
                case .userTerminated: "the user closes it"
                case let exit? where exit.isBySystem: "it is ended"
                case _: "it ends"
                }
            return "it lives \(clock(.zero + (at - termination.at))) longer, until \(ends) \(clock(at)) into the run "
                + "(\(reason))\(wanted)"
        }
    }

    /// No change saves it.
    private func hopeless(_ counsel: Counsel, _ termination: Termination) -> [String] {
        guard let fate = counsel.fateIfProtected else {
            return paragraph("What saves it:", "nothing that was tried.") + inVain(counsel.failures)
        }
        let text = "nothing that was tried, and protected by name \(fateIfProtected(fate, termination)):"
        return paragraph("What saves it:", text) + command(protection(of: termination)) + inVain(counsel.failures)
    }

    private func fateIfProtected(_ fate: Fate, _ termination: Termination) -> String {
        switch fate {
        case .stays: return "it is not shown to stay on the run's own backend"
        case .isAbsent: return "the app has no process at that moment"
        case .ends(let at, let reason, let explanation):
            let isLater = at >= termination.at
            let when = isLater ? "\(clock(.zero + (at - termination.at))) later" : "\(clock(at)) into the run"
            return "it ends all the same, \(when): \(reason)\(explanation.isEmpty ? "" : " (\(explanation))")"
        }
    }

    private func inVain(_ failures: [String]) -> [String] {
        failures.isEmpty ? [] : paragraph("In vain:", failures.joined(separator: "; ") + ".")
    }

    private func command(_ change: Change) -> [String] {
        ["                 plimsoll run \(ShellWord.quoted(scenario)) \(change.option)"]
    }

    // MARK: The price

    /// The most lines for one kind of loss or gain; the others are summed up by app.
    private static let listed = 12

    private func price(_ price: AdvicePrice, _ termination: Termination, isFirst: Bool) -> [String] {
        let paying = price.losses.filter { $0.at >= termination.since }
        let earlier = price.losses.filter { $0.at < termination.since }
        var lines =
            paying.isEmpty
            ? paragraph("Who pays:", "no other process is ended, slowed or made to wait in its place.")
            : list("Who pays:", paying)
        // The change acts from the start of the run.
        lines += list("Before that:", earlier)
        // Only the first change lists its other savings; the figures of the whole run include them for every change.
        return lines + (isFirst ? alsoSpared(price) : []) + paragraph("On the whole:", whole(price))
    }

    /// The other ends that the change avoids.
    private func alsoSpared(_ price: AdvicePrice) -> [String] {
        guard !price.spared.isEmpty else { return [] }
        let apps = Set(price.spared.map(\.app)).sorted().map { app in
            let times = price.spared.filter { $0.app == app }.map { clock($0.at) }
            let more = times.count > Explainer.listed ? " and \(times.count - Explainer.listed) more" : ""
            return "\(app) (\(times.prefix(Explainer.listed).joined(separator: ", "))\(more))"
        }
        return paragraph("Saved as well:", "\(apps.joined(separator: ", ")).")
    }

    /// A line for each loss; ends that only come sooner share one line.
    private func list(_ label: String, _ losses: [AdvicePrice.Loss]) -> [String] {
        let items = losses.filter { $0.kind.lead == nil }
        var texts = items.prefix(Explainer.listed).map(words)
        if let rest = counted(items.dropFirst(Explainer.listed)) { texts.append("\(rest).") }
        let early = losses.filter { $0.kind.lead != nil }
        let sooner = early.prefix(Explainer.listed).map { loss in
            "\(loss.app) (\(clock(loss.at)), by \(clock(.zero + (loss.kind.lead ?? .zero))))"
        }
        if !sooner.isEmpty {
            let rest = counted(early.dropFirst(Explainer.listed)).map { ", \($0)" } ?? ""
            texts.append("ends that come anyway, only sooner: \(sooner.joined(separator: ", "))\(rest).")
        }
        return texts.enumerated().flatMap { index, text in paragraph(index == 0 ? label : "", text) }
    }

    /// The number of losses of each app, or nil if there are none.
    private func counted(_ losses: ArraySlice<AdvicePrice.Loss>) -> String? {
        guard !losses.isEmpty else { return nil }
        let names = Set(losses.map(\.app)).sorted().map { app in "\(app) (\(losses.count { $0.app == app }))" }
        return "and \(losses.count) more: \(names.joined(separator: ", "))"
    }

    private func words(_ loss: AdvicePrice.Loss) -> String {
        let at = "\(clock(loss.at)) into the run"
        switch loss.kind {
        case .endsInForeground: return "\(loss.app), in the FOREGROUND: it ends \(at)."
        case .endsPerceived(let after):
            let wanted = after.map { " \(clock(.zero + $0)) later" } ?? " soon"
            return "\(loss.app), perceived: it ends \(at), and the user wants it again\(wanted)."
        case .losesLaunch: return "\(loss.app), in the FOREGROUND: its launch \(at) never shows a first frame."
        case .launchesSlower(let time, let before):
            let than = before.map { "instead of \(words($0))" } ?? "and is not needed without the change"
            return "\(loss.app), slower: its launch \(at) takes \(words(time)) \(than)."
        case .waits(let time, let before, let isForeground):
            let place = isForeground ? "in the foreground" : "off screen"
            return "\(loss.app), \(place): it waits \(clock(.zero + time)) for memory instead of "
                + "\(clock(.zero + before)), first \(at)."
        case .ends, .endsSooner: return "\(loss.app): it ends \(at)."
        }
    }

    private func words(_ time: AdvicePrice.LaunchTime) -> String {
        "\(time.latency.microseconds / 1_000) ms (\(time.kind))"
    }

    private func whole(_ price: AdvicePrice) -> String {
        let (with, without) = (price.with, price.without)
        func figure(_ now: Int, _ before: Int, _ what: String) -> String {
            "\(now) \(what)\(with == without ? "" : now == before ? " as before" : " instead of \(before)")"
        }
        var figures = [
            figure(with.terminations, without.terminations, with.terminations == 1 ? "termination" : "terminations"),
            figure(with.foreground, without.foreground, "in the foreground"),
            figure(with.perceived, without.perceived, "perceived"),
        ]
        if with.lostLaunches != without.lostLaunches {
            figures.append(figure(with.lostLaunches, without.lostLaunches, "without a first frame"))
        }
        if with.coldLaunches != without.coldLaunches {
            figures.append(figure(with.coldLaunches, without.coldLaunches, "cold launches"))
        }
        if with.foregroundWait != without.foregroundWait {
            let (now, before) = (with.foregroundWait, without.foregroundWait)
            figures.append(
                "\(now / 10).\(now % 10) s of waiting in the foreground instead of \(before / 10).\(before % 10) s")
        }
        let verdict = with == without ? "the same figures" : price.isWorse ? "worse" : "better"
        return "\(verdict): \(figures.joined(separator: ", "))."
    }

    // MARK: Lines

    /// The text next to its label, in lines of at most 112 columns.
    private func paragraph(_ label: String, _ text: String) -> [String] {
        let margin = 17
        var lines: [String] = []
        var line = label.isEmpty ? String(repeating: " ", count: margin) : "  \(label)"
        line += String(repeating: " ", count: max(0, margin - line.count))
        var isEmpty = true
        for word in Explainer.unbroken(text) {
            if !isEmpty && line.count + 1 + word.count > 112 {
                lines.append(line)
                (line, isEmpty) = (String(repeating: " ", count: margin), true)
            }
            line += isEmpty ? word : " \(word)"
            isEmpty = false
        }
        return lines + [line]
    }

    /// The words of a text. A number with its unit, such as `1 h 2 min 3.4 s`, counts as one word.
    private static func unbroken(_ text: String) -> [String] {
        var words: [String] = []
        var last: Substring = ""
        for word in text.split(separator: " ") {
            let unit = word.prefix(while: \.isLetter)
            let isUnit = last.last?.isNumber == true && ["h", "min", "s", "ms", "MiB", "GiB", "KiB"].contains(unit)
            let goesOn = ["h", "min"].contains(last) && word.first?.isNumber == true
            if isUnit || goesOn, let head = words.popLast() {
                words.append("\(head) \(word)")
            } else {
                words.append(String(word))
            }
            last = word
        }
        return words
    }
}
