import Interchange
import Quantities
import Scenario

// Reports of phones and of kernels.
extension Subject {
    /// A replay is made of reports with at most so many processes that hold so much, and it ends after so many
    /// questions. A process of 30 GiB consists of eight million objects, which take three seconds, and here fifteen.
    private static let mostReplayed = 16
    private static let mostHeld = ByteCount.gibibytes(2)
    private static let mostQuestions = 60

    /// What is made of a report takes ten times as long as its reading, and a replay a hundred times. So its bytes
    /// decide whether it is made: in one of so many inputs.
    private static func isOne(of many: Int, _ bytes: [UInt8]) -> Bool {
        bytes.reduce(0) { $0 &+ Int($1) } % many == 0
    }

    static let jetsam = Subject(name: "jetsam", input: "a JetsamEvent report", longest: 16_384) {
        bytes throws(Finding) in
        let file = "report.ips"
        try answers(bytes, file)
        var imported: String?
        do throws(ScenarioFault) {
            let apps = try JetsamEventImport(bytes, file: file)
            _ = apps.digest.text
            imported = apps.scenario
        } catch {
            try Claims.hold(of: error, in: [file])
        }
        let isMade = isOne(of: 8, bytes)
        if isMade, let imported { try Claims.isScenario(imported, of: "the import of the apps alone") }
        let phone: JetsamPhoneImport
        do throws(ScenarioFault) {
            phone = try JetsamPhoneImport(bytes, file: file)
        } catch {
            try Claims.hold(of: error, in: [file])
            return false
        }
        _ = phone.digest.text
        guard isMade else { return true }
        try Claims.isScenario(phone.scenario, of: "the import")
        let replay = JetsamReplay(phone)
        try Claims.isScenario(replay.scenario, of: "the scenario of the replay")
        guard isOne(of: 32, bytes), phone.members.count <= mostReplayed else { return true }
        var questions = 0
        do {
            _ = try replay.play(isInterrupted: {
                questions += 1
                return questions > mostQuestions
            }).text
        } catch {
            try Claims.isRefusal(error)
        }
        return true
    }

    static let kernel = Subject(name: "kernel", input: "a log with OOM reports of a kernel", longest: 16_384) {
        bytes throws(Finding) in
        let file = "kern.log"
        try answers(bytes, file)
        let log = KernelLog(bytes, file: file)
        var isAccepted = false
        for number in 1...max(1, min(3, log.reports.count)) {
            let imported: KernelOOMImport
            do throws(ScenarioFault) {
                imported = try KernelOOMImport(log, number: number, file: file)
            } catch {
                try Claims.hold(of: error, in: [file])
                continue
            }
            isAccepted = true
            guard isOne(of: 8, bytes) else { continue }
            try Claims.isScenario(imported.scenario, of: "the import")
            let held = imported.members.reduce(ByteCount.zero) { $0 + $1.footprint }
            guard imported.members.count <= mostReplayed, held <= mostHeld else { continue }
            if isOne(of: 32, bytes) { try replay(imported) }
        }
        return isAccepted
    }

    private static func replay(_ imported: KernelOOMImport) throws(Finding) {
        var questions = 0
        do {
            _ = try KernelReplay(imported).play(isInterrupted: {
                questions += 1
                return questions > mostQuestions
            }).text
        } catch {
            try Claims.isRefusal(error)
        }
    }

    /// The answer of `why` is a paragraph, or a refusal.
    private static func answers(_ bytes: [UInt8], _ file: String) throws(Finding) {
        let text: String
        do throws(ScenarioFault) {
            text = try WhyReport(bytes, file: file).text()
        } catch {
            return try Claims.hold(of: error, in: [file])
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.count > WhyReport.mostLines { throw Finding("an answer of \(lines.count) lines") }
        for line in lines { try Claims.isOneLine(String(line)) }
    }
}
