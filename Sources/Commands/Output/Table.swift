/// Rows of text in aligned columns.
enum Table {
  /// - Parameters:
  ///   - header: the names of the columns.
  ///   - rows: as many cells each; they are made printable here.
  ///   - style: puts colour around a cell that is already padded.
  static func render(
    _ header: [String], _ rows: [[String]],
    style: (_ row: Int, _ column: Int, _ cell: String) -> String = { _, _, cell in cell }
  ) -> [String] {
    let rows = rows.map { $0.map(\.printable) }
    let widths = header.indices.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
    // Nothing is padded behind which only empty cells stand.
    let line = { (cells: [String], style: (Int, String) -> String) in
      let last = cells.lastIndex { !$0.isEmpty } ?? 0
      return cells[...last].enumerated().map { column, cell in
        style(column, column == last ? cell : Help.padded(cell, widths[column]))
      }.joined(separator: "  ")
    }
    return [line(header) { _, cell in cell }]
      + rows.enumerated().map { row, cells in line(cells) { style(row, $0, $1) } }
  }
}
