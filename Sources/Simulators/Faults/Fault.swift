package import HTTPWire

/// One thing that goes wrong with a request, or that is done because of it.
package enum Fault: Sendable, Equatable {
  /// Nothing goes wrong: lets a rule count requests that later rules are not for.
  case pass
  /// Lets time pass before the request is judged, or before its answer is written.
  case delay(Moment, milliseconds: Int)
  /// Waits at a gate until somebody opens it: order instead of time.
  case hold(Moment, gate: String)
  /// Ends the connection without an answer, before the request is judged, or after.
  case drop(Moment, Ending)
  /// Answers this in place of everything else; the request is read, but not judged.
  case answer(Answer)
  /// Writes these bytes in place of an answer, and closes unless `keepsOpen`.
  case raw([UInt8], keepsOpen: Bool)
  /// Changes the status of the answer and nothing else.
  case status(Int)
  /// Adds fields to the answer.
  case addFields([HTTPField])
  case encode(BodyEncoding)
  case truncate(Truncation, Ending)
  /// Writes the answer piece by piece.
  case pace(Pace)
  /// Writes a 1xx answer first. RFC 9110 §15.2
  case interim(status: Int, fields: [HTTPField])
  /// Sends no `100 Continue` though the request expects one.
  case withholdContinue
  /// Closes the connection after the answer without having said so: a keep-alive race.
  case closeAfterAnswer(Ending)
  /// Makes every nonce this server gave wrong, before the request is judged.
  case expireNonces
  /// Revokes every token issued, before the request is judged.
  case revokeTokens

  /// Whether it can still happen to a request that is judged already.
  package var canFollowJudgement: Bool {
    switch self {
    case .delay(let moment, _), .hold(let moment, _), .drop(let moment, _): moment == .after
    case .withholdContinue, .expireNonces, .revokeTokens: false
    case .pass, .answer, .raw, .status, .addFields, .encode, .truncate, .pace, .interim, .closeAfterAnswer: true
    }
  }

  package enum Moment: String, Sendable, CaseIterable {
    /// The head is read, the body is not.
    case head
    /// The request is read, but not judged.
    case before
    /// The request is judged and all its effects have happened.
    case after
  }

  package enum Ending: String, Sendable, CaseIterable {
    case close
    case reset
  }

  /// Where an answer is cut.
  package enum Truncation: Sendable, Equatable {
    case head(atByte: Int)
    /// Cuts the body after so many of its bytes; in a chunked answer, inside a chunk.
    case body(atByte: UInt64)
    /// Promises more bytes than there are.
    case declareMore(bytes: Int)
    case withoutLastChunk
  }
}
