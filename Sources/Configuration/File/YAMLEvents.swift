import CYAML

/// What libyaml says stands next in the file.
struct YAMLEvent {
  enum Kind {
    case streamStart, streamEnd, documentStart, documentEnd
    case alias
    case scalar(String, plain: Bool)
    case sequenceStart, sequenceEnd, mappingStart, mappingEnd
  }

  let kind: Kind
  let mark: SourceMark
  /// The node carries `&name`.
  let hasAnchor: Bool
  /// The node carries `!tag`.
  let hasTag: Bool
}

/// The file is not YAML, with libyaml's words, which never quote the file.
struct YAMLSyntaxError: Error {
  let message: String
  let mark: SourceMark
}

/// Owns a libyaml parser over bytes that outlive it.
///
/// [libyaml](https://pyyaml.org/wiki/LibYAML): `yaml_parser_initialize`, `yaml_parser_parse`, `yaml_parser_delete`.
struct YAMLEvents: ~Copyable {
  /// On the heap, because the parser keeps a pointer to itself.
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let input: UnsafeBufferPointer<UInt8>

  /// Nil when there is no memory for a parser.
  init?(_ input: UnsafeBufferPointer<UInt8>) {
    self.input = input
    parser = .allocate(capacity: 1)
    guard yaml_parser_initialize(parser) == 1 else {
      parser.deallocate()
      return nil
    }
    // Without this libyaml would take a byte order mark's word for UTF-16.
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, input.baseAddress, input.count)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
  }

  /// The next event; `.streamEnd` is the last.
  mutating func next() throws(YAMLSyntaxError) -> YAMLEvent {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw syntaxError() }
    defer { yaml_event_delete(&event) }
    return YAMLEvent(event)
  }

  private func syntaxError() -> YAMLSyntaxError {
    let message = parser.pointee.problem.map { String(cString: $0) } ?? "cannot be read as YAML"
    if parser.pointee.error == YAML_READER_ERROR {
      let mark = SourceMark(ofByte: parser.pointee.problem_offset, in: input)
      return YAMLSyntaxError(message: message, mark: mark)
    }
    return YAMLSyntaxError(message: message, mark: SourceMark(parser.pointee.problem_mark))
  }
}

extension YAMLEvent {
  fileprivate init(_ event: yaml_event_t) {
    mark = SourceMark(event.start_mark)
    switch event.type {
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
      kind = .scalar(String(decoding: bytes, as: UTF8.self), plain: scalar.style == YAML_PLAIN_SCALAR_STYLE)
      hasAnchor = scalar.anchor != nil
      hasTag = scalar.tag != nil
    case YAML_SEQUENCE_START_EVENT:
      kind = .sequenceStart
      hasAnchor = event.data.sequence_start.anchor != nil
      hasTag = event.data.sequence_start.tag != nil
    case YAML_MAPPING_START_EVENT:
      kind = .mappingStart
      hasAnchor = event.data.mapping_start.anchor != nil
      hasTag = event.data.mapping_start.tag != nil
    default:
      kind =
        switch event.type {
        case YAML_STREAM_START_EVENT: .streamStart
        case YAML_DOCUMENT_START_EVENT: .documentStart
        case YAML_DOCUMENT_END_EVENT: .documentEnd
        case YAML_ALIAS_EVENT: .alias
        case YAML_SEQUENCE_END_EVENT: .sequenceEnd
        case YAML_MAPPING_END_EVENT: .mappingEnd
        default: .streamEnd
        }
      hasAnchor = false
      hasTag = false
    }
  }
}

extension SourceMark {
  fileprivate init(_ mark: yaml_mark_t) {
    self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
  }

  /// The position of a byte that is not readable text, where libyaml knows no line.
  fileprivate init(ofByte offset: Int, in bytes: UnsafeBufferPointer<UInt8>) {
    self.init(line: 1, column: 1)
    for byte in bytes.prefix(offset) {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
  }
}
