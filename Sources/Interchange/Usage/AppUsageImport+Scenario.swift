import Quantities

extension AppUsageImport {
    /// A complete scenario, ready to run.
    public var scenario: String {
        (heading + ["apps:"] + appLines + ["user:"] + deeds.map(line)).joined(separator: "\n") + "\n"
    }

    private var heading: [String] {
        let source = onOneLine(trace.source.file.split(separator: "/").last.map(String.init) ?? "a trace")
        var lines = [
            "# The usage trace \(source): user \(onOneLine(user, atMost: 40)), \(records.count.counted("event")), "
                + "\(apps.count.counted("app")).",
            "# Times count from the first event on.",
        ]
        if shortened > .zero {
            lines.append("# Idle times were shortened, by \(shortened.readable) in all.")
        }
        return lines + [
            "plimsoll: 1", "name: app-usage", "duration: \(duration)",
            "# A trace does not describe the device; this one is Plimsoll's choice.",
            "device: { ceiling: 1GiB, reserved: 160MiB }",
        ]
    }

    private var appLines: [String] {
        let lines = apps.map { app in
            let comment = app.name == app.recorded ? "" : "  # \(onOneLine(app.recorded, atMost: 40))"
            return "  - { name: \"\(app.name)\", like: \(app.like) }" + comment
        }
        guard apps.contains(where: { $0.like == "plain" }) else { return lines }
        return ["  # An app's archetype follows from its name; an unknown name gets the archetype plain."] + lines
    }

    private func line(_ deed: Deed) -> String {
        switch deed.kind {
        case .launch(let app): "  - { at: \(deed.at), launch: \"\(apps[app].name)\" }"
        case .switchTo(let app): "  - { at: \(deed.at), switch: \"\(apps[app].name)\" }"
        case .home: "  - { at: \(deed.at), home: true }"
        }
    }
}
