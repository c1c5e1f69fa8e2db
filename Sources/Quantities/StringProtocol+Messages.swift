// Makes text from outside safe in messages: it cannot split the line, control the terminal or flood it.

extension StringProtocol {
    /// The text with line breaks, control characters, invisible characters and characters that change the direction of
    /// writing spelt out (`\n`, `\u{1B}`, `\u{202E}`). So a name can neither split its line, nor control the terminal,
    /// nor look like another name.
    public var onOneLine: String {
        if utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return String(self) }
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.isHidden: text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// The text cut to `longest` Unicode scalars: a longer text keeps its beginning and end, with `…` between.
    ///
    /// - Parameter longest: At least 3.
    public func shortened(to longest: Int = 60) -> String {
        if utf8.count <= longest { return String(self) }
        let scalars = unicodeScalars
        guard scalars.index(scalars.startIndex, offsetBy: longest + 1, limitedBy: scalars.endIndex) != nil else {
            return String(self)
        }
        let tail = (longest - 1) / 3
        return String(String.UnicodeScalarView(scalars.prefix(longest - 1 - tail))) + "…"
            + String(String.UnicodeScalarView(scalars.suffix(tail)))
    }

    /// A message with text from outside, bounded: a word has at most 240 characters, the whole at most 4,000.
    public var asMessage: String {
        if utf8.count <= MessageLimits.word { return String(self) }
        let whole = shortened(to: MessageLimits.whole)
        var isFirst = true
        var text = ""
        for word in whole.split(separator: " ", omittingEmptySubsequences: false) {
            if !isFirst { text += " " }
            isFirst = false
            text += word.shortened(to: MessageLimits.word)
        }
        return text
    }
}

private enum MessageLimits {
    /// Plimsoll's own longest word, a notification's name, has 60 characters; a path may have more.
    static let word = 240
    /// Plimsoll's own longest message names all metrics.
    static let whole = 4_000
}

extension Unicode.Scalar {
    /// Whether the scalar is a control character, is invisible, or changes the direction of writing.
    public var isHidden: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}

extension BinaryInteger {
    /// The number in groups of three digits: `599,900`.
    public var grouped: String {
        let digits = Array(String(magnitude))
        var text = self < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }

    /// The number with its noun in the singular or the plural: `1 run`, `2 runs`.
    ///
    /// - Parameter plural: The plural, where it is not the singular with an s.
    public func counted(_ singular: String, _ plural: String? = nil) -> String {
        "\(self) \(self == 1 ? singular : plural ?? singular + "s")"
    }
}
