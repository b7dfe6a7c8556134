import HTTPWire
import OAuth
import Testing

extension NonceCell {
  /// Feeds the nonce of a response as the field's text.
  @discardableResult
  fileprivate func receive(_ nonce: String?, for send: NonceSend, isChallenge: Bool = false) -> NonceReceipt {
    guard let nonce else { return receive(nil as UnsafeRawBufferPointer?, for: send, isChallenge: isChallenge) }
    return Array(nonce.utf8).withUnsafeBytes { receive($0, for: send, isChallenge: isChallenge) }
  }

  fileprivate var text: String? { current.map { String(decoding: $0.bytes, as: UTF8.self) } }
}

struct NonceCellTests {
  let cell = NonceCell()

  @Test func `C1 the nonce of any response is carried by the next send`() {
    let first = cell.beginSend()
    #expect(first.nonce == nil)
    #expect(cell.receive("a", for: first, isChallenge: true).offer == .new)
    let second = cell.beginSend()
    #expect(second.nonce == NonceValue("a"))
    #expect(cell.receive("b", for: second).offer == .new)
    #expect(cell.beginSend().nonce == NonceValue("b"))
  }

  @Test func `a nonce is used until it is replaced`() {
    cell.receive("a", for: cell.beginSend())
    let send = cell.beginSend()
    #expect(cell.receive(nil, for: send) == NonceReceipt(offer: .none, replacedByAnotherExchange: false))
    #expect(cell.beginSend().nonce == NonceValue("a"))
  }

  @Test func `an older answer that comes late does not replace a newer nonce`() {
    let older = cell.beginSend()
    let newer = cell.beginSend()
    cell.receive("newer", for: newer)
    let receipt = cell.receive("older", for: older)
    #expect(cell.text == "newer")
    #expect(receipt.offer == .new)
  }

  @Test func `a challenge is believed even if it comes late`() {
    let older = cell.beginSend()
    cell.receive("newer", for: cell.beginSend())
    cell.receive("challenge", for: older, isChallenge: true)
    #expect(cell.text == "challenge")
  }

  @Test func `after a late challenge the order of sends still holds`() {
    let first = cell.beginSend()
    let second = cell.beginSend()
    let third = cell.beginSend()
    cell.receive("third", for: third)
    cell.receive("challenge", for: first, isChallenge: true)
    cell.receive("second", for: second)
    #expect(cell.text == "challenge")
    cell.receive("fourth", for: cell.beginSend())
    #expect(cell.text == "fourth")
  }

  @Test func `a nonce that was sent is told apart from a new one`() {
    cell.receive("a", for: cell.beginSend())
    #expect(cell.receive("a", for: cell.beginSend(), isChallenge: true).offer == .sameAsSent)
  }

  @Test func `an exchange learns that another one replaced the nonce it had signed`() {
    cell.receive("a", for: cell.beginSend())
    let mine = cell.beginSend()
    cell.receive("b", for: cell.beginSend())
    #expect(cell.receive("c", for: mine, isChallenge: true).replacedByAnotherExchange)
  }

  @Test func `its own receipt is not another exchange`() {
    let mine = cell.beginSend()
    #expect(!cell.receive("a", for: mine).replacedByAnotherExchange)
    // The challenge was in the body and is known only now.
    let again = cell.receive("a", for: mine, isChallenge: true)
    #expect(again == NonceReceipt(offer: .new, replacedByAnotherExchange: false))
  }

  @Test(arguments: ["", "a b", "a\"b", "a\\b", "ä", "a\u{7F}", "a\tb", String(repeating: "n", count: 513)])
  func `C30 what is not a nonce is ignored`(value: String) {
    cell.receive("good", for: cell.beginSend())
    #expect(cell.receive(value, for: cell.beginSend(), isChallenge: true).offer == .none)
    #expect(cell.text == "good")
    #expect(NonceValue(value) == nil)
  }

  @Test func `every NQCHAR is legal in a nonce, up to the limit`() {
    let all = (0x21...0x7E).filter { $0 != 0x22 && $0 != 0x5C }.map { UInt8($0) }
    #expect(NonceValue(String(decoding: all, as: UTF8.self))?.bytes == all)
    #expect(NonceValue(String(repeating: "n", count: 512)) != nil)
  }

  @Test func `a kept nonce starts a cell but never replaces a fresh one`() throws {
    cell.seed(try #require(NonceValue("kept")))
    #expect(cell.text == "kept")
    cell.receive("fresh", for: cell.beginSend())
    cell.seed(try #require(NonceValue("kept")))
    #expect(cell.text == "fresh")
  }

  @Test func `a nonce does not print`() throws {
    let nonce = try #require(NonceValue("sentinel-nonce"))
    #expect(!"\(nonce) \(String(reflecting: nonce)) \(cell.beginSend())".contains("sentinel"))
  }
}

struct NonceCellsTests {
  @Test func `C6 authorization server and resource server of one origin share no nonce`() throws {
    let cells = NonceCells()
    let origin = try Origin(parsing: "https://id.example.com")
    cells.authorizationServer(origin).seed(try #require(NonceValue("as")))
    #expect(cells.resourceServer(origin).current == nil)
    #expect(cells.authorizationServer(origin).current == NonceValue("as"))
    #expect(cells.authorizationServer(try Origin(parsing: "https://id.example.com:8443")).current == nil)
  }
}
