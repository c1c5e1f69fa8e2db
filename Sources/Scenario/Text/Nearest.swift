/// Finds the valid name that the writer probably meant.
public enum Nearest {
    /// The nearest name if at most a third of its letters differ. The first in the list wins a tie.
    public static func name(to text: String, among names: [String]) -> String? {
        guard text.count <= 80 else { return nil }
        var best: (name: String, distance: Int)?
        for name in names {
            let distance = distance(Array(text.lowercased()), Array(name.lowercased()))
            let allowed = max(1, min(text.count, name.count) / 3)
            if distance <= allowed && distance < (best?.distance ?? .max) { best = (name, distance) }
        }
        return best?.name
    }

    /// `; did you mean 'ceiling'?`, or the list of all names.
    public static func advice(for text: String, among names: [String], kind: String) -> String {
        // An element without a name offers none; a name that two elements share is listed once.
        var known: Set<String> = [""]
        let names = names.filter { known.insert($0).inserted }
        if let nearest = name(to: text, among: names) { return "; did you mean '\(nearest)'?" }
        if names.isEmpty { return "; there are no valid \(kind)" }
        let shown = names.prefix(40).joined(separator: ", ")
        return "; valid \(kind): \(shown)" + (names.count > 40 ? " and \(names.count - 40) more" : "")
    }

    /// The number of insertions, deletions, substitutions and swaps of neighbours that turn one text into the other.
    static func distance(_ a: [Character], _ b: [Character]) -> Int {
        var rows: [[Int]] = [Array(0...b.count)]
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                var cost = min(rows[i][j] + (a[i] == b[j] ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, rows[i - 1][j - 1] + 1) }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
