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
      return .success(try FieldSection.parseLines(section, from: 0, limits: limits, fields: fields) { _ in })
    } catch {
      return .failure(error)
    }
  }
}
