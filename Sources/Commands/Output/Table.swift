/// Rows of text in aligned columns.
enum Table {
  static func render(_ header: [String], _ rows: [[String]]) -> [String] {
    let all = [header] + rows
    let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return all.map { row in
      let cells = row.indices.map { column in
        column == row.count - 1 ? row[column] : Help.padded(row[column], widths[column])
      }
      return cells.joined(separator: "  ")
    }
  }
}
