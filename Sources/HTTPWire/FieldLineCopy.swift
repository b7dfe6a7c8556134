/// Copies field lines into a head that is rebuilt. Lines that stand one behind the other, written as `name: value`, go
/// over as one run: nearly all of a usual head.
///
/// Every byte was seen by the parser, so a run holds whole lines and nothing between them.
package struct FieldLineCopy: ~Copyable {
  private let source: UnsafeRawBufferPointer
  private var run = 0..<0

  /// - Parameter source: the parsed head the fields are ranges of.
  package init(from source: UnsafeRawBufferPointer) { self.source = source }

  @inline(__always)
  package mutating func add(_ field: Field, to output: inout ByteBuffer) {
    let nameEnd = field.name.range.upperBound
    let value = field.value.range
    let isPlain =
      value.lowerBound == nameEnd + 2 && value.upperBound + 2 <= source.count
      && source[nameEnd + 1] == ASCII.space && source[value.upperBound] == ASCII.carriageReturn
    guard isPlain else {
      finish(to: &output)
      output.append(source[field.name])
      output.append(": ")
      output.append(source[field.value])
      output.append("\r\n")
      return
    }
    let start = field.name.range.lowerBound
    if start != run.upperBound {
      finish(to: &output)
      run = start..<start
    }
    run = run.lowerBound..<value.upperBound + 2
  }

  /// Writes the run that is still held back; after the last field.
  package mutating func finish(to output: inout ByteBuffer) {
    output.append(source.slice(run))
    run = 0..<0
  }
}
