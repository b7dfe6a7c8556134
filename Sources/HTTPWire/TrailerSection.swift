/// The field lines behind a chunked body: as strict as a head's, but nothing they say is believed. RFC 9112 §7.1.2
package enum TrailerSection {
  /// Parses a whole trailer section.
  ///
  /// - Parameters:
  ///   - section: the lines up to and including the empty one.
  ///   - fields: filled with the fields; what it held before is dropped.
  package static func parse(
    _ section: UnsafeRawBufferPointer, limits: HeadLimits, fields: FieldTable
  ) -> Result<Void, HeadViolation> {
    guard section.count <= limits.headBytesMax else { return .failure(.headTooLarge) }
    do throws(HeadViolation) {
      return .success(try FieldSection.parseLines(section, limits: limits, fields: fields))
    } catch {
      return .failure(error)
    }
  }
}

extension FieldSection {
  fileprivate static func parseLines(
    _ section: UnsafeRawBufferPointer, limits: HeadLimits, fields: FieldTable
  ) throws(HeadViolation) {
    fields.removeAll()
    var index = 0
    while true {
      guard index + 1 < section.count else { throw .unterminated }
      if section[index] == ASCII.carriageReturn {
        guard section[index + 1] == ASCII.lineFeed else { throw .bareCarriageReturn }
        guard index + 2 == section.count else { throw .unterminated }
        return
      }
      let field = try parseLine(section, &index, fields)
      guard fields.count < limits.fieldCountMax, fields.append(field) else { throw .tooManyFields }
    }
  }
}
