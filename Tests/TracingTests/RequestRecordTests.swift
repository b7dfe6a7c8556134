import HTTPWire
import Testing

@testable import Tracing

@Suite struct RequestRecordTests {
  @Test func `a full record is one line of JSON with its members in the documented order`() {
    let draft = RecordDraft(target: "/orders?limit=10") { record in
      record.route = LogLabel("orders")
      record.credential = LogLabel("acme/work")
      record.caller = LogLabel("uid 1000")
      record.upstream = LogLabel(url: "https://api.example.com/v1/orders")
      record.status = 200
      record.source = .upstream
      record.durationNanoseconds = 12_345_678
      record.upstreamNanoseconds = 9_000_000
      record.requestBytes = 17
      record.responseBytes = 4_096
      record.attempts = 2
      record.auth = AuthEvents(.cached, .nonceRetry)
      record.reused = true
      record.error = LogLabel("upstream_closed")
    }
    #expect(
      draft.line() == """
        {"time":"2026-11-30T06:14:12.345Z","id":"04hmasw9nf6y","event":"request","route":"orders","credential":"acme/work",\
        "caller":"uid 1000","method":"GET","target":"/orders?limit=10","upstream":"https://api.example.com/v1/orders",\
        "status":200,"source":"upstream","duration_ms":12.345,"upstream_ms":9,"request_bytes":17,"response_bytes":4096,\
        "attempts":2,"auth":["cached","nonce_retry"],"reused":true,"error":"upstream_closed"}

        """)
  }
}
