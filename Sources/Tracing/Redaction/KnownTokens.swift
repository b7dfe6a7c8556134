/// The prefixes by which well-known issuers let their secrets be found.
enum KnownTokens {
  struct Form {
    let prefix: StaticString
    /// How many characters must follow.
    let tailMin: Int
    /// The prefix also begins ordinary words, so the rest must look random.
    let needsChance: Bool
    /// The rest has parts with dots between them.
    let hasDots: Bool

    init(_ prefix: StaticString, tail: Int, chance: Bool = false, dots: Bool = false) {
      self.prefix = prefix
      tailMin = tail
      needsChance = chance
      hasDots = dots
    }
  }

  /// The end of the token that begins at `start`, a place where no letter or digit stands before.
  static func end(in text: UnsafeRawBufferPointer, at start: Int) -> Int? {
    guard isFirstByte(text[start]) else { return nil }
    for form in formsByFirstByte[Int(text[start])] where text.holds(form.prefix, at: start) {
      let tail = start + form.prefix.utf8CodeUnitCount
      var end = tail
      let limit = form.needsChance ? min(text.count, tail + tailMax) : text.count
      while end < limit, isTailByte(text[end]) || form.hasDots && text[end] == UInt8(ascii: ".") { end += 1 }
      guard end - tail >= form.tailMin else { continue }
      if form.needsChance, !Randomness.isRandom(text[tail..<end]) { continue }
      while end < text.count, isTailByte(text[end]) { end += 1 }
      return end
    }
    return nil
  }

  /// The shortest token of all forms.
  static let byteCountMin = 16

  /// Enough to tell chance from words; without a bound a text of nothing but prefixes would take quadratic time.
  private static let tailMax = 128

  private static func isTailByte(_ byte: UInt8) -> Bool {
    byte.isWordByte || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
  }

  /// Whether any form begins so; most words end here.
  private static func isFirstByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "b"), UInt8(ascii: "c"), UInt8(ascii: "f"), UInt8(ascii: "i"), UInt8(ascii: "j"),
      UInt8(ascii: "k"), UInt8(ascii: "m"), UInt8(ascii: "o"), UInt8(ascii: "q"), UInt8(ascii: "u"),
      UInt8(ascii: "z"), UInt8(ascii: "2")...UInt8(ascii: "9"):
      false
    default: true
    }
  }

  /// The forms by the first byte of their prefix.
  private static let formsByFirstByte: [[Form]] = (0...UInt8.max).map { byte in
    forms.filter { $0.prefix.utf8Start[0] == byte }
  }

  private static let forms = [
    Form("ghp_", tail: 20), Form("gho_", tail: 20), Form("ghu_", tail: 20), Form("ghs_", tail: 20),
    Form("ghr_", tail: 20), Form("github_pat_", tail: 20), Form("glpat-", tail: 16), Form("gldt-", tail: 16),
    Form("glptt-", tail: 16), Form("glrt-", tail: 16), Form("glcbt-", tail: 16), Form("gsk_", tail: 20),
    Form("glsa_", tail: 20), Form("glc_", tail: 20, chance: true),
    Form("sk-", tail: 20, chance: true), Form("sk_live_", tail: 10), Form("sk_test_", tail: 10),
    Form("shpat_", tail: 16), Form("shpss_", tail: 16), Form("shpca_", tail: 16), Form("shppa_", tail: 16),
    Form("sq0atp-", tail: 16), Form("sq0csp-", tail: 16), Form("sntrys_", tail: 20), Form("secret_", tail: 24),
    Form("xoxa-", tail: 11), Form("xoxb-", tail: 11), Form("xoxe-", tail: 11), Form("xoxe.", tail: 11, dots: true),
    Form("xoxo-", tail: 11), Form("xoxp-", tail: 11), Form("xoxr-", tail: 11), Form("xoxs-", tail: 11),
    Form("xapp-", tail: 11), Form("xai-", tail: 20, chance: true),
    Form("AKIA", tail: 16), Form("ASIA", tail: 16), Form("AIza", tail: 30), Form("ATATT", tail: 20),
    Form("ATCTT", tail: 20), Form("AGE-SECRET-KEY-", tail: 20),
    // A refresh token of Google; an API token of Okta.
    Form("1//0", tail: 20, chance: true), Form("00", tail: 40, chance: true),
    Form("ya29.", tail: 11, dots: true), Form("hf_", tail: 20, chance: true), Form("npm_", tail: 20, chance: true),
    Form("pypi-", tail: 20, chance: true), Form("dop_v1_", tail: 20), Form("doo_v1_", tail: 20),
    Form("dor_v1_", tail: 20), Form("dckr_pat_", tail: 16), Form("dp.pt.", tail: 20),
    Form("dp.st.", tail: 20, dots: true),
    Form("hvs.", tail: 20), Form("hvb.", tail: 20), Form("tskey-", tail: 12), Form("rk_live_", tail: 10),
    Form("rk_test_", tail: 10), Form("rubygems_", tail: 20, chance: true), Form("whsec_", tail: 16),
    Form("ntn_", tail: 20, chance: true), Form("lin_api_", tail: 20), Form("pat-na1-", tail: 20),
    Form("pat-eu1-", tail: 20), Form("phc_", tail: 20, chance: true), Form("phx_", tail: 20, chance: true),
    Form("nvapi-", tail: 20), Form("r8_", tail: 20, chance: true), Form("pscale_tkn_", tail: 16),
    Form("pscale_pw_", tail: 16), Form("v1.local.", tail: 20, dots: true), Form("v2.local.", tail: 20, dots: true),
    Form("v3.local.", tail: 20, dots: true), Form("v4.local.", tail: 20, dots: true),
    Form("v2.public.", tail: 20, dots: true), Form("v4.public.", tail: 20, dots: true),
    Form("EAA", tail: 30, chance: true), Form("NRAK-", tail: 16), Form("PMAK-", tail: 16),
    Form("SG.", tail: 20, chance: true, dots: true), Form("CFPAT-", tail: 16),
  ]
}
