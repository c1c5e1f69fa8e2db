import Lifecycle

/// Tells from the words of a process's name whether it is an extension, and of which kind.
///
/// The words are those of Apple's templates and of processes seen in reports of iOS 10 to 18. A name is free text, so
/// each answer is a guess. The kernel keeps 32 bytes of a name, so the last word of a long one may be cut.
enum ExtensionNames {
    /// The kind of extension that the name tells of; nil: no word is known.
    static func kind(of name: String) -> ProcessKind? {
        if wordless.contains(name) { return .otherExtension }
        let words = words(of: name)
        if let kind = particular(words) { return kind }
        let isOther = others.contains { words.hasPhrase($0) } || endings.contains { words.suffix($0.count) == $0[...] }
        return isOther ? .otherExtension : nil
    }

    /// As `kind(of:)`, but only if the words belong to one kind alone: not for `Service` or `Extension`, which daemons
    /// have, too.
    static func particularKind(of name: String) -> ProcessKind? { particular(words(of: name)) }

    /// What stands before the words of the kind: usually the name of the app that made it. Empty if nothing does.
    static func maker(of name: String) -> String {
        words(of: name).prefix { !known.contains($0) }.joined()
    }

    private static let known = Set((phrases.flatMap(\.phrases) + others + endings).flatMap { $0 } + ["today"])

    // MARK: Words

    private static let phrases: [(kind: ProcessKind, phrases: [[String]])] = [
        (.widget, [["widget"]]),
        (.notificationService, [["notification", "service"], ["notification", "extension"], ["nse"]]),
        (.keyboard, [["keyboard"]]),
        (
            .packetTunnel,
            [
                ["packet", "tunnel"], ["packettunnel"], ["tunnel", "provider"], ["tunnel", "extension"],
                ["network", "extension"],
            ]
        ),
        (.appProxy, [["app", "proxy", "provider"], ["app", "proxy", "extension"]]), (.dnsProxy, [["dns", "proxy"]]),
        (.filterControl, [["filter", "control"]]), (.filterData, [["filter", "data"]]),
        (.appPush, [["app", "push", "provider"], ["app", "push", "extension"]]),
        (.broadcastUpload, [["broadcast", "upload"], ["broadcast", "extension"]]),
        (.messageFilter, [["message", "filter"], ["sms", "filter"]]),
        (.share, [["share", "extension"]]), (.action, [["action", "extension"]]),
    ]

    /// Words of extensions that Plimsoll has no kind of its own for.
    private static let others: [[String]] = [
        ["extension"], ["appex"], ["intent"], ["intents"], ["file", "provider"], ["focus", "filter"], ["ausp"],
        ["poster", "provider"], ["thumbnail", "provider"], ["quick", "look"], ["content", "blocker"],
        ["call", "directory"], ["credential", "provider"], ["view", "service"], ["ui", "service"],
    ]

    /// Words that tell of an extension, or of a service with an interface, only at the end of a name.
    private static let endings: [[String]] = [
        ["ext"], ["ui"], ["poster"], ["service"], ["services"], ["synthesizer"], ["sticker"], ["stickers"],
        ["complication"],
        ["subscriber"], ["plugin"],
    ]

    /// Apple's extensions, and processes that show a part of the system's interface, whose names have no such word.
    private static let wordless: Set<String> = [
        "NewsTag", "NewsToday", "NewsToday2", "TipsSwift", "deliveryagent", "PosterBoard", "AccessibilityUIServer",
        "WebSheet",
    ]

    private static func particular(_ words: [String]) -> ProcessKind? {
        if let found = phrases.first(where: { $0.phrases.contains(where: words.hasPhrase) }) { return found.kind }
        switch words.last {
        case "tunnel": return .packetTunnel
        case "share": return .share
        default: return nil
        }
    }

    /// The words in small letters: `GCWidgets` is "gc" and "widget". Numbers and platforms at the end are left out.
    static func words(of name: String) -> [String] {
        var words: [String] = []
        var word = ""
        let letters = Array(name)
        for (place, letter) in letters.enumerated() {
            guard letter.isLetter else {
                if !word.isEmpty { words.append(word) }
                word = ""
                continue
            }
            // A word begins with a capital letter after a small one, or with the last of several capital letters.
            let next = place + 1 < letters.count ? letters[place + 1] : " "
            let begins = letter.isUppercase && (word.last?.isLowercase == true || next.isLowercase)
            if begins && !word.isEmpty {
                words.append(word)
                word = ""
            }
            word.append(letter)
        }
        if !word.isEmpty { words.append(word) }
        words = words.map { $0.lowercased() }
        if name.utf8.count >= longestName - 1, let last = words.last {
            let whole = cut.first { $0.hasPrefix(last) && last.count >= 3 }
            if let whole { words[words.count - 1] = whole }
        }
        while words.count > 1, let last = words.last, platforms.contains(last) { words.removeLast() }
        return words.map { plurals.contains($0) ? String($0.dropLast()) : $0 }
    }

    /// `2 * MAXCOMLEN` in XNU (`sys/proc_internal.h`, `proc_name_t`); older systems keep one byte less.
    private static let longestName = 32
    private static let cut = ["extension", "service", "widget", "provider", "intents"]
    private static let platforms: Set<String> = ["ios", "i", "os", "phone", "iphone", "ipad", "pad", "mobile", "debug"]
    private static let plurals: Set<String> = ["widgets", "filters", "posters", "extensions", "keyboards"]
}

extension [String] {
    /// Whether these words follow each other somewhere.
    fileprivate func hasPhrase(_ phrase: [String]) -> Bool {
        guard count >= phrase.count else { return false }
        return (0...count - phrase.count).contains { self[$0..<$0 + phrase.count] == phrase[...] }
    }
}
