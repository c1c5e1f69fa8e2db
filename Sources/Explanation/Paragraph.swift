import Quantities

/// Sentences below one label.
public struct Paragraph: Hashable, Encodable, Sendable {
    /// What the sentences are about, such as `Who pays`.
    public let label: String
    /// The sentences. A command that can be copied is one of its own and begins with `plimsoll `.
    public internal(set) var sentences: [String]

    init(_ label: String, _ sentences: [String]) { (self.label, self.sentences) = (label, sentences) }

    init(_ label: String, _ sentence: String) { self.init(label, [sentence]) }

    /// The label and beside it the sentences, in lines of at most `width` columns. Each sentence begins a line. A
    /// command is one line, however long, so that it can be copied.
    func lines(width: Int, margin: Int, commandMargin: Int) -> [String] {
        var lines: [String] = []
        for (index, sentence) in sentences.enumerated() {
            let head = index == 0 ? "  \(label):" : ""
            if sentence.hasPrefix("plimsoll ") {
                if index == 0 { lines.append(head) }
                lines.append(String(repeating: " ", count: commandMargin) + sentence)
            } else {
                lines += wrapped(sentence, width: width, margin: margin, head: head)
            }
        }
        return lines
    }
}

/// The text in lines of at most `width` columns, each behind a margin. The first margin may hold a head.
func wrapped(_ text: String, width: Int, margin: Int, head: String = "") -> [String] {
    var lines: [String] = []
    var line = head + String(repeating: " ", count: max(0, margin - head.terminalColumns))
    var columns = max(margin, head.terminalColumns)
    var isEmpty = true
    for word in unbroken(text) {
        if !isEmpty && columns + 1 + word.terminalColumns > width {
            lines.append(line)
            (line, columns, isEmpty) = (String(repeating: " ", count: margin), margin, true)
        }
        line += isEmpty ? word : " \(word)"
        columns += word.terminalColumns + (isEmpty ? 0 : 1)
        isEmpty = false
    }
    return lines + [line]
}

/// The words of a text. A number with its unit, such as `1 h 2 min 3.4 s`, counts as one word.
private func unbroken(_ text: String) -> [String] {
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
