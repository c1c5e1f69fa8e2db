// Text from outside, in a message for people: it neither splits the line, nor commands the terminal, nor fills it.

extension StringProtocol {
    /// The text with its line breaks, control characters and characters that show nothing or change the direction of
    /// writing spelt out (`\n`, `\u{1B}`, `\u{202E}`): a name that holds one neither splits the line in which it is
    /// said, nor commands the terminal, nor looks like another.
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

    /// At most `longest` Unicode scalars of the text, or of a longer one its beginning and its end, with `…` between.
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

    /// A message with text from outside in it, bounded: a word has at most 240 characters, the whole at most 4,000.
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
    /// The longest of our own words, a notification's name, has 60; a path may have more.
    static let word = 240
    /// Of our own messages the longest names all metrics.
    static let whole = 4_000
}

extension Unicode.Scalar {
    /// A control character, one that shows nothing, or one that changes the direction of what follows.
    public var isHidden: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}

extension BinaryInteger {
    /// In groups of three digits: `599,900`.
    public var grouped: String {
        let digits = Array(String(magnitude))
        var text = self < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }
}
