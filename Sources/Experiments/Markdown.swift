/// Tables in GitHub's Markdown.
package enum Markdown {
    /// A table. The first `texts` columns contain text; the others contain numbers, aligned right.
    package static func table(_ head: [String], texts: Int, _ rows: [[String]]) -> String {
        let rule = head.indices.map { $0 < texts ? "---" : "--:" }
        return ([head, rule] + rows).map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    }

    /// A name as inline code, which shows markup as it is. Bars are escaped: GitHub splits a table's cells at them
    /// even within code.
    package static func code(_ name: String) -> String {
        let fence = name.contains("`") ? "``" : "`"
        let blank = name.contains("`") ? " " : ""
        return fence + blank + name.replacing("|", with: "\\|") + blank + fence
    }

    /// A sentence as a quotation.
    package static func quotation(_ text: String) -> String { "> " + escaped(text) }

    /// A sentence whose markup characters are escaped, as they belong to names.
    package static func escaped(_ text: String) -> String {
        let marks: [Character] = ["\\", "|", "*", "_", "`", "<", ">", "[", "]", "#", "~"]
        return text.reduce(into: "") { $0 += marks.contains($1) ? "\\\($1)" : "\($1)" }
    }
}
