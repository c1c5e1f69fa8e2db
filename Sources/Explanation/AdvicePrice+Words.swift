import Lifecycle
import Metrics
import Quantities
import Simulation

// The price of a change in words.
extension AdvicePrice {
    /// The most lines for one kind of loss or gain; the others are summed up by app.
    private static let listed = 12

    /// Everything about the price. Losses before the ended process began are told apart, because the change acts from
    /// the start of the run.
    func words(since: Instant, isFirst: Bool) -> [Paragraph] {
        let paying = losses.filter { $0.at >= since }
        var paragraphs =
            paying.isEmpty
            ? [Paragraph("Who pays", "no other process is ended, slowed or made to wait in its place.")]
            : list("Who pays", paying)
        paragraphs += list("Before that", losses.filter { $0.at < since })
        // Only the first change lists its other savings; the figures of the whole run include them for every change.
        return paragraphs + (isFirst ? alsoSpared : []) + [Paragraph("On the whole", whole)]
    }

    /// The other ends that the change avoids.
    private var alsoSpared: [Paragraph] {
        guard !spared.isEmpty else { return [] }
        let apps = Set(spared.map(\.app)).sorted().map { app in
            let times = spared.filter { $0.app == app }.map(\.at.clock)
            let more = times.count > AdvicePrice.listed ? " and \(times.count - AdvicePrice.listed) more" : ""
            return "\(app) (\(times.prefix(AdvicePrice.listed).joined(separator: ", "))\(more))"
        }
        return [Paragraph("Saved as well", "\(apps.joined(separator: ", ")).")]
    }

    /// A line for each loss; ends that only come sooner share one line.
    private func list(_ label: String, _ losses: [Loss]) -> [Paragraph] {
        let items = losses.filter { $0.kind.lead == nil }
        var texts: [String] = items.prefix(AdvicePrice.listed).map(\.words)
        if let rest = counted(items.dropFirst(AdvicePrice.listed)) { texts.append("\(rest).") }
        let early = losses.filter { $0.kind.lead != nil }
        let sooner = early.prefix(AdvicePrice.listed).map { loss in
            "\(loss.app) (\(loss.at.clock), by \((loss.kind.lead ?? .zero).clock))"
        }
        if !sooner.isEmpty {
            let rest = counted(early.dropFirst(AdvicePrice.listed)).map { ", \($0)" } ?? ""
            texts.append("ends that come anyway, only sooner: \(sooner.joined(separator: ", "))\(rest).")
        }
        return texts.isEmpty ? [] : [Paragraph(label, texts)]
    }

    /// The number of losses of each app, or nil if there are none.
    private func counted(_ losses: ArraySlice<Loss>) -> String? {
        guard !losses.isEmpty else { return nil }
        let names = Set(losses.map(\.app)).sorted().map { app in "\(app) (\(losses.count { $0.app == app }))" }
        return "and \(losses.count) more: \(names.joined(separator: ", "))"
    }

    /// The figures of both runs.
    private var whole: String {
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
        let verdict = with == without ? "the same figures" : isWorse ? "worse" : "better"
        return "\(verdict): \(figures.joined(separator: ", "))."
    }
}

extension AdvicePrice.Loss {
    /// The loss as a sentence.
    var words: String {
        let at = "\(at.clock) into the run"
        switch kind {
        case .endsInForeground: return "\(app), in the FOREGROUND: it ends \(at)."
        case .endsPerceived(let after):
            let wanted = after.map { " \($0.clock) later" } ?? " soon"
            return "\(app), perceived: it ends \(at), and the user wants it again\(wanted)."
        case .losesLaunch: return "\(app), in the FOREGROUND: its launch \(at) never shows a first frame."
        case .launchesSlower(let time, let before):
            let than = before.map { "instead of \($0.words)" } ?? "and is not needed without the change"
            return "\(app), slower: its launch \(at) takes \(time.words) \(than)."
        case .waits(let time, let before, let isForeground):
            let place = isForeground ? "in the foreground" : "off screen"
            return "\(app), \(place): it waits \(time.clock) for memory instead of \(before.clock), first \(at)."
        case .ends, .endsSooner: return "\(app): it ends \(at)."
        }
    }

    /// The loss in few words, for a list of several.
    var brief: String {
        switch kind {
        case .endsInForeground: return "\(app) ends in the FOREGROUND (at \(at.clock))"
        case .endsPerceived: return "\(app) ends, and the user soon wants it again (at \(at.clock))"
        case .losesLaunch: return "\(app) never shows a first frame in the FOREGROUND (at \(at.clock))"
        case .launchesSlower(let time, let before):
            let more = (time.latency - (before?.latency ?? .zero)).clock
            return "\(app) opens \(more) more slowly (at \(at.clock))"
        case .waits(let time, let before, let isForeground):
            return "\(app) waits \((time - before).clock) longer for memory\(isForeground ? "" : " off screen")"
        case .ends: return "\(app) ends off screen (at \(at.clock))"
        case .endsSooner(let lead): return "\(app) ends \(lead.clock) sooner (at \(at.clock))"
        }
    }
}

extension AdvicePrice.LaunchTime {
    fileprivate var words: String { "\(latency.microseconds / 1_000) ms (\(kind))" }
}
