/// Keys and signatures made once with pyca/cryptography, for what no RFC prints an example of.
enum IndependentVectors {
  static let ps256Key = """
    {"kty":"RSA","e":"AQAB",
     "n":"vT6-XYFd9aOJmOz_I_bf1Z7U2pDXtH3XS68ca7UZk-4mseTHW-Q-bRSJ9jSz6exCD8c18ZSe-pf8_-UTy0qWtjkv3qr_tpfYdrKQRF_000PjSwyh\
    QIehbrfehH_jUSPw18RGzc3YwodWvYuhXc_WWwb_vVPKfsHx2Ft0JldUvZ0Rkfy7OCmgvvkJhfFGWHb_K1aM4qyYII3MpK1B1kooqLl71gW4mtW02SLU\
    XztYbub49urHXeOaaxwBEhXEGo09NvdbXh4PzRRYVicCd5m0ph0SxINEx4dwLumLz2RkDUGYxc1SehfO1QXE-jgbKZCZY2HckEyTMFYLTxIORnXkxw"}
    """

  /// With the salt of 32 bytes that RFC 7518 §3.5 demands.
  static let ps256 = """
    eyJhbGciOiJQUzI1NiJ9.eyJpc3MiOiJqb2UifQ.\
    sHOn8NsqLya56N0kjFvNAVkIAV4piTFICOr1haW7w5s1aIi5_MwCqNeFkYNotGDpVngaz0VHwOaTcl_RncUc_eT8Hmfk4Ffq8_LLmllkiLq9Dc-ZsAxk\
    a8BNCZDJKMBzKE3LSv6ugaAPorTI0A_W78E_viAFRMHQhm6xFaMG62lyKNJWbQqn7ujuKSjjD-CUF_jV7qYfYb0qCuSknhVpMnSKSXTLhh9e8G9zc135\
    JBFpdIy4tvw-qzraiBgCdPKYMMjdVL1i48rz5bkUK-TwECLzc8qMe9Tw810hTZN8akM2pikCN1M__jFSolXBRxpgg8E4wBcx8sYIQP89nZGsLw
    """

  /// The same key and payload, with a salt of 20 bytes.
  static let ps256ShortSalt = """
    eyJhbGciOiJQUzI1NiJ9.eyJpc3MiOiJqb2UifQ.\
    bhzl6bJ3Zerzy403cYtKX9qbuG5GskFo-V7KmMai_hvW74hOYIfNZePgpdC3Z-Ur6x06KzEne4qz25wfl7PkK-tQN2cZcsWPcZD4WMJwPTztv_6tqFR4\
    VMSuo3AOOQ1JqiO8zAhOmetTdap6TMyv9PuRrA7iI8_ziabltz62eHEkn4ITw9jSqdM9vJZFOq7yoJVtFpyXnpRVla-d5hLvfwMcqCAysBc3C4awnY_-\
    0Gk4iifHmnhepcEndL0-NbnOcckgwH8uBPYmDdlqGLz4RQ2Ax6nGhf05o5RO_myoVlYJ2W_DSDaJL1SMNrYfavQ16P3Ag8K_PZiVLl_qKANC7Q
    """

  /// PKCS #8 of the key in RFC 7515 A.3.1
  static let rfc7515ECPKCS8 = """
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjpsQnnGQmL+YBIffH1136cspYG6+0iY7X1fCE9+E9LKhRANCAAR/zc4ncPbEXUGDy+5v\
    20t7WAczNXvp7xO6z248e9FURcfxRM0bvZt+hyzf7bnuufSzaV1uqQskrYpGIyiFiOWt
    """

  /// PKCS #8 of a P-384 key
  static let p384PKCS8 = """
    MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBm1b9jdu68BnvHqZ6aEprlArVt5Lpvz/6emuIV7B7l2nBIByelCJ4Jst/qiFxFSF+hZANi\
    AARDw64uiXcVekhuYr0n/xV7aBohTSK5mMQAZYcm/a1smv01CTJ6Tj47gIsYJ5MTP8vujCjOljek4yBc4xx6C/JX0/dR/qxRuEperAgor+gREsyvChPl\
    P20jMSH3LrzPwgM=
    """

  /// PKCS #8 of a key on secp256k1, a curve whose coordinates have the size of P-256's
  static let secp256k1PKCS8 = """
    MIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQgNfagxNOc/aWY0t5+1pbaf2jiKEmNhd1cGZL2EDk6n2uhRANCAARKe65/fcc9PAQgWolrRZoF\
    n48Yy3TbVdzK1oo6/XQbnV6xPayNt4foYoy4ewCqO64k1ZI8lfWkddFtbwaqjAUI
    """

  /// Private numbers whose points have a coordinate that starts with a zero byte
  static let scalarOfShortX = 379
  static let scalarOfShortY = 43
}
