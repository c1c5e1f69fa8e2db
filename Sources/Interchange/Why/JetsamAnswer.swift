import Lifecycle
import Pressure
import Quantities
import Reclaim
import Scenario

/// The sentences about one JetsamEvent report.
struct JetsamAnswer {
    private let report: JetsamReport
    private let processes: [JetsamReport.Process]
    /// The place of the process that is asked about.
    private let asked: Int?

    /// - Throws: That the report has no such process.
    init(_ report: JetsamReport, app: String?, file: String) throws(ScenarioFault) {
        self.report = report
        let processes = report.processes
        self.processes = processes
        guard let app else {
            asked = nil
            return
        }
        let fits = processes.indices.filter { processes[$0].name == app || processes[$0].pid.map { "\($0)" } == app }
        guard let place = fits.first(where: { processes[$0].reason != nil }) ?? fits.first else {
            throw KernelLog.fault(file, "there is no '\(app.shortened().onOneLine)': no such process in the report")
        }
        asked = place
    }

    private typealias Sentence = WhyReport.Sentence

    private func size(_ pages: Int) -> String { ByteCount(pages * report.pageSize).readable }
    private func name(_ place: Int) -> String {
        let process = processes[place]
        return onOneLine(process.name, atMost: 40) + (process.pid.map { " (\($0))" } ?? "")
    }

    /// The victims, in the order of their ends where the report says it.
    private var victims: [Int] {
        let places = processes.indices.filter { processes[$0].reason != nil }
        return places.sorted { a, b in
            (processes[a].endedAfter ?? 0, a) < (processes[b].endedAfter ?? 0, b)
        }
    }

    var sentences: [WhyReport.Sentence] {
        let victims = victims
        var sentences = [who(victims)]
        if let asked { sentences.append(Sentence(about(asked))) }
        sentences += [Sentence(state), Sentence(held)]
        if let subject = asked.flatMap({ processes[$0].reason == nil ? nil : $0 }) ?? victims.first {
            sentences += changes(subject)
        }
        sentences.append(
            Sentence(
                "A report shows neither limits nor who took the memory; import jetsam-event --replay plays it on.",
                weight: 3))
        return sentences
    }

    // MARK: Who, and by which rule

    private func who(_ victims: [Int]) -> WhyReport.Sentence {
        let system = report.system.map { onOneLine($0, atMost: 40) } ?? "The system"
        guard let first = victims.first, let reason = processes[first].reason else {
            return Sentence("\(system) wrote this report without naming a process that jetsam ended.")
        }
        var text = "On \(system) jetsam ended \(name(first)), which held \(size(processes[first].pages))"
        if let priority = processes[first].priority { text += " in band \(priority)" }
        text += ": \(ReportDigest.words(for: onOneLine(reason, atMost: 40)))."
        let others = victims.dropFirst()
        guard !others.isEmpty else { return Sentence(text) }
        let names = others.prefix(3).map { onOneLine(processes[$0].name, atMost: 40) }.joined(separator: ", ")
        let more = others.count > 3 ? " and \(others.count - 3) more" : ""
        return Sentence(text + " It ended \(names)\(more), too.")
    }

    private func about(_ place: Int) -> String {
        let process = processes[place]
        if let reason = process.reason {
            return "\(name(place)) held \(size(process.pages)) and was ended: "
                + "\(ReportDigest.words(for: onOneLine(reason, atMost: 40)))."
        }
        let before = processes[..<place].reduce(0) { $0 + $1.pages }
        return "\(name(place)) held \(size(process.pages)) and was not ended: \(place.counted("process", "processes")) "
            + "with \(size(before)) stand before it."
    }

    // MARK: The state

    private var ram: ByteCount { ByteCount(report.pages.all * report.pageSize) }
    private var available: ByteCount { ByteCount(report.pages.available * report.pageSize) }

    private var state: String {
        let row = JetsamThresholds.row(for: ram, in: report.kernel)
        let (share, critical, idle) = (available.share(of: ram), ram * row.critical, ram * row.idle)
        var text = "\(available.readable) of \(ram.readable) were available (\(share.partsPerMillion / 10_000)%)"
        if available < critical {
            text += ", \((critical - available).readable) below the \(row.critical) at which jetsam ends any process"
        } else if available < idle {
            text +=
                ", \((idle - available).readable) below the \(row.idle) at which it ends idle processes, and above "
                + "the \(row.critical) at which it ends any"
        } else {
            text += ", above the \(row.idle) at which it ends idle processes, so free memory was not what was short"
        }
        return text + " (xnu-\(report.kernel.rawValue))."
    }

    private var held: String {
        let pages = report.pages
        let parts: [(String, Int)] = [
            ("the compressor \(size(pages.compressor)) for \(size(pages.uncompressed))", pages.compressor),
            ("wired memory \(size(pages.wired))", pages.wired),
            ("processes' own pages \(size(pages.anonymous))", pages.anonymous),
            ("files \(size(pages.fileBacked))", pages.fileBacked),
        ]
        let told = parts.filter { $0.1 > pages.all / 100 }.sorted { $0.1 > $1.1 }.map(\.0)
        let largest = processes.indices.sorted { (processes[$1].pages, $0) < (processes[$0].pages, $1) }.prefix(3)
        return "RAM was held by " + told.joined(separator: ", ") + ". Largest: "
            + largest.map { "\(onOneLine(processes[$0].name, atMost: 40)) \(size(processes[$0].pages))" }
            .joined(separator: ", ") + "."
    }

    // MARK: What would have changed it

    private func changes(_ place: Int) -> [WhyReport.Sentence] {
        let process = processes[place]
        switch process.reason.flatMap(KillCause.init(rawValue:)) {
        case .highwater?:
            return [
                Sentence(
                    "It stays if it holds less than its soft limit, which is below \(size(process.pages)) and not in "
                        + "the report.", weight: 1)
            ]
        case .perProcessLimit?:
            return [
                Sentence(
                    "It stays if it never holds \(size(process.pages)), its own limit, free memory or not.", weight: 1)
            ]
        case .diskSpaceShortage?, .vnodeLimit?, .zoneMapExhaustion?, .jettisoned?, nil:
            return [Sentence("More memory would not have changed it.", weight: 1)]
        default: break
        }
        let next = processes.indices.first { $0 > place && processes[$0].reason == nil }
        let idle = ram * JetsamThresholds.row(for: ram, in: report.kernel).idle
        var texts: [String] = []
        if let next {
            texts.append(
                "at the price of \(name(next)), the next that lived, which gives back \(size(processes[next].pages)) "
                    + "in place of \(size(process.pages)): a place behind it (a later use, or a higher band)")
        }
        if available < idle {
            texts.append(
                "at the price of \((idle - available).readable) less in what others hold: nobody is ended for it")
        }
        guard !texts.isEmpty else { return [] }
        return [Sentence("The choice changes " + texts.joined(separator: "; ") + ".", weight: 1)]
    }
}
