import HTTPWire

extension JSONValue {
  /// nil for anything that is not one JSON text with unique names.
  init?(strictly bytes: [UInt8]) {
    guard let value = try? JSONValue(parsing: bytes) else { return nil }  // only whether it is one matters here
    self = value
  }

  static func integer(_ value: Int64) -> JSONValue { .number("\(value)") }
  static func integer(_ value: Int) -> JSONValue { .number("\(value)") }
  static func strings(_ values: [String]) -> JSONValue { .array(values.map { .string($0) }) }
  static func optional(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
  static func optional(_ value: Int?) -> JSONValue { value.map { .integer($0) } ?? .null }
}
