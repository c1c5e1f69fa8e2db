/// Tables in GitHub's Markdown.
enum Markdown {
    /// A table whose first `texts` columns are texts; the others are numbers, on the right.
    static func table(_ head: [String], texts: Int, _ rows: [[String]]) -> String {
        let rule = head.indices.map { $0 < texts ? "---" : "--:" }
        return ([head, rule] + rows).map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    }

    /// A name as code, in which nothing is marked up. A table's cells are split at bars even within code.
    static func code(_ name: String) -> String {
        let fence = name.contains("`") ? "``" : "`"
        let blank = name.contains("`") ? " " : ""
        return fence + blank + name.replacing("|", with: "\\|") + blank + fence
    }

    /// A sentence with names in it, as a quotation.
    static func quotation(_ text: String) -> String {
        let marks: [Character] = ["\\", "|", "*", "_", "`", "<", ">", "[", "]", "#", "~"]
        return "> " + text.reduce(into: "") { $0 += marks.contains($1) ? "\\\($1)" : "\($1)" }
    }
}
