/// Recognises what is often at hand in place of a JetsamEvent report of an iPhone or iPad, and says what to do.
enum ForeignReport {
    /// A file that is no JSON: reports of iOS 9 and before are text, and so are old crash reports.
    static func fault(inText bytes: [UInt8]) -> TextFault? {
        let text = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes[...]
        let beginning = text.drop { [0x20, 0x09, 0x0a, 0x0d].contains($0) }.prefix(8_192)
        guard beginning.starts(with: "Incident Identifier:".utf8) else { return nil }
        func has(_ words: String) -> Bool { String(decoding: beginning, as: UTF8.self).contains(words) }
        let offset = beginning.startIndex
        if has("\nFree pages:") || has("\nLargest process:") {
            return TextFault(
                offset: offset,
                message: "this is a JetsamEvent report as text, as iOS 9 and earlier wrote it; take a report of iOS 10 "
                    + "or later, which is JSON")
        }
        guard has("\nException Type:") || has("\nCrashReporter Key:") else { return nil }
        return TextFault(offset: offset, message: "this is a crash report as text; \(wanted)")
    }

    /// A file whose first value shows that it is something else.
    static func fault(in first: JSONNode) -> TextFault? {
        var node = first
        if case .array(let elements) = first.content, let element = elements.first { node = element }
        let keys = ["applicationExitMetrics", "timeStampBegin", "crashDiagnostics", "hangDiagnostics"]
        guard node["processes"] == nil, keys.contains(where: { node[$0] != nil }) else { return nil }
        return TextFault(
            offset: first.offset,
            message:
                "this is a MetricKit payload, which counts the exits of one app and shows no processes; compare it "
                + "with exits.csv of a run, and \(wanted)")
    }

    /// A report whose header says that it is of another kind.
    static func fault(ofType type: JSONNode, _ text: String) -> TextFault {
        let kinds = [
            "109": "a crash report", "309": "a crash report", "210": "a report of a kernel panic",
            "142": "a report of wakeups", "145": "a report of disk writes", "202": "a report of CPU use",
            "228": "a report of a hang", "288": "a report of all threads",
        ]
        let name = kinds[text] ?? "a report of another kind"
        return TextFault(
            offset: type.offset, message: "this is \(name) (bug_type \(onOneLine(text, atMost: 40))); \(wanted)")
    }

    /// A JetsamEvent report of a device whose apps do not live as those of a phone do.
    static func fault(ofDevice product: (name: String, offset: Int)?, _ system: (name: String, offset: Int)?)
        -> TextFault?
    {
        for device in devices {
            let isNamed = product.map { told in device.products.contains { told.name.hasPrefix($0) } } ?? false
            let runs = system.map { told in device.systems.contains { told.name.hasPrefix($0) } } ?? false
            guard isNamed || runs, let offset = (isNamed ? product : system)?.offset else { continue }
            let told = [product?.name, system?.name].compactMap { $0 }.map { onOneLine($0, atMost: 40) }
            return TextFault(
                offset: offset,
                message:
                    "this is a JetsamEvent report of \(device.name) (\(told.joined(separator: ", "))); take one of "
                    + "an iPhone or iPad")
        }
        return nil
    }

    private static let wanted = "take a JetsamEvent report (.ips, bug_type 298) of an iPhone or iPad"

    /// The first that fits: a HomePod's system calls itself that of an Apple TV.
    private static let devices: [(name: String, products: [String], systems: [String])] = [
        ("a HomePod", ["AudioAccessory"], ["audioOS"]),
        ("an Apple TV", ["AppleTV"], ["Apple TVOS", "tvOS"]),
        ("an Apple Watch", ["Watch"], ["Watch OS", "watchOS"]),
        ("an Apple Vision", ["RealityDevice"], ["xrOS", "visionOS"]),
        (
            "a Mac", ["Mac", "iMac", "VirtualMac", "iBridge"],
            ["macOS", "Mac OS X", "OS X", "bridgeOS"]
        ),
    ]
}
