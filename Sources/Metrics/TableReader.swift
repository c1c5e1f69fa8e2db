/// Reads a CSV of a run directory back: RFC 4180, UTF-8, the first record names the columns.
///
/// It also reads the tables of an interrupted run: it leaves out a half-written last record. A missing column reads as
/// empty cells, so that tables of older formats can be read.
public struct TableReader: Sendable {
    /// The names in the first record.
    public let columns: [String]
    /// One list of cells per record, in the order of the wanted columns.
    public let rows: [[String]]
    /// Whether the last record was half-written.
    public let isCutOff: Bool

    /// Parses a whole file.
    ///
    /// - Parameter wanted: The names of the columns to keep; a row's cells come in this order.
    public init(_ bytes: [UInt8], columns wanted: [String]) {
        var parser = RecordParser(bytes: bytes)
        guard let header = parser.next(keeping: nil) else {
            (columns, rows, isCutOff) = ([], [], !bytes.isEmpty)
            return
        }
        columns = header
        // For each column of the file, its position among the wanted ones; nil if it is not wanted.
        let target = header.map { wanted.firstIndex(of: $0) }
        let present = target.compactMap { $0 }
        var found: [[String]] = []
        while let cells = parser.next(keeping: target.map { $0 != nil }) {
            var row = Array(repeating: "", count: wanted.count)
            for (cell, position) in zip(cells, present) { row[position] = cell }
            found.append(row)
        }
        rows = found
        isCutOff = parser.isCutOff
    }
}

/// Steps through the records of a CSV.
private struct RecordParser {
    let bytes: [UInt8]
    var position = 0
    /// After `next` has returned nil: whether bytes of an incomplete record are left.
    var isCutOff: Bool { position < bytes.count }

    private static let (quote, comma, lineFeed, carriageReturn) = (
        UInt8(ascii: "\""), UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r")
    )

    /// The cells of the next whole record, without those that are not kept; nil at the end.
    mutating func next(keeping kept: [Bool]?) -> [String]? {
        var cells: [String] = []
        var index = 0
        var at = position
        while let (end, text) = cell(from: at, wanted: kept.map { index < $0.count && $0[index] } ?? true) {
            if let text { cells.append(text) }
            index += 1
            guard end < bytes.count else { return nil }
            at = end + 1
            if bytes[end] == RecordParser.lineFeed {
                position = at
                return cells
            }
        }
        return nil
    }

    /// The position of the comma or line feed that ends the cell (or of the end of the file), and the cell's text if
    /// the cell is wanted. Nil if the file ends before the cell or inside its quotes.
    private func cell(from start: Int, wanted: Bool) -> (end: Int, text: String?)? {
        guard start < bytes.count else { return nil }
        if bytes[start] == RecordParser.quote { return quotedCell(from: start + 1, wanted: wanted) }
        var end = start
        while end < bytes.count, bytes[end] != RecordParser.comma, bytes[end] != RecordParser.lineFeed { end += 1 }
        let last = end > start && bytes[end - 1] == RecordParser.carriageReturn ? end - 1 : end
        return (end, wanted ? String(decoding: bytes[start..<last], as: UTF8.self) : nil)
    }

    private func quotedCell(from start: Int, wanted: Bool) -> (end: Int, text: String?)? {
        var content: [UInt8] = []
        var at = start
        while at < bytes.count {
            if bytes[at] == RecordParser.quote {
                guard at + 1 < bytes.count, bytes[at + 1] == RecordParser.quote else { break }
                at += 1
            }
            if wanted { content.append(bytes[at]) }
            at += 1
        }
        guard at < bytes.count else { return nil }
        at += 1
        if at < bytes.count, bytes[at] == RecordParser.carriageReturn { at += 1 }
        return (at, wanted ? String(decoding: content, as: UTF8.self) : nil)
    }
}
