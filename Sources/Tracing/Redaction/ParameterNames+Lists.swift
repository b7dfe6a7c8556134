/// The names that are known. Folded before they are compared, so each stands here once, as its specification writes it.
enum ParameterNames {
  /// Always secret.
  static let secret = """
    access_tokens refresh_tokens id_tokens token tokens tok device_token device_secret session_token session_transfer_token logout_token state_token
    interaction_handle state_handle idx_tokens okta_key registration_access_token initial_access_token
    software_statement transaction_token txn_token upstream_token client_attestation
    federated_connection_access_token push_token identity_token csrf_token xsrf_token csrf xsrf authenticity_token
    bearer bearer_token auth_token oauth_token oauth_verifier oauth_signature oauth_consumer_key
    assertion client_secrets secret secrets shared_secret
    password passwords passwd pwd pass passphrase passkey pin auth authz new_password old_password current_password password_confirmation
    passcode
    api_key api_keys apikey appkey app_key application_key access_key access_key_id secret_key secretkey private_key
    privatekey encryption_key signing_key signing_secret webhook_secret auth_key authkey accesskey subscription_key
    account_key master_key consumer_key consumer_secret shared_access_key license_key licence_key
    authorization proxy_authorization cookie cookies set_cookie credential credentials jwt dpop
    sig signature signatures hmac
    user_code auth_req_id login_hint_token auth_session authn_response
    authorization_code auth_code authcode
    otp otp_token otpcode otp_code totp totp_code mfa_token mfa_code mfa_otp oob_code binding_code
    recovery_code recovery_codes backup_code
    backup_codes verification_code verify_code confirmation_code activation_code sms_code email_code login_code
    security_code invite_code reset_code confirmation_token reset_token magic_token magic_link
    invitation_token organization_invitation otk one_time_key
    wctx
    x_amz_signature x_amz_security_token x_amz_credential x_goog_signature x_goog_credential x_goog_security_token
    aws_access_key_id key_pair_id
    session_id sessionid sessid sess_id phpsessid jsessionid sessionkey session_key
    connect.sid
    """

  /// The same; and signs of OAuth themselves.
  static let secretOAuth = """
    access_token refresh_token id_token id_token_hint subject_token actor_token client_secret client_assertion
    code_verifier device_code dpop_jkt saml_request saml_response saml_art wresult
    """

  /// Secret beside an OAuth parameter, or when the value looks like a secret.
  static let ambiguous = """
    key sid session ticket magic invitation challenge policy answer proof hash
    cred creds mac ssid pin_code
    """

  /// The same; and a sign of OAuth themselves.
  static let ambiguousOAuth = """
    code state nonce session_state request request_uri response login_hint logout_hint relay_state
    """

  /// Not secret, and signs of OAuth.
  static let oauth = """
    client_id redirect_uri response_type response_mode grant_type scope code_challenge code_challenge_method
    token_type token_type_hint requested_token_type subject_token_type actor_token_type expires_in
    client_assertion_type post_logout_redirect_uri acr_values id_token_signed_response_alg
    iss
    """

  /// Ends like a secret and is none.
  static let ordinary = """
    page_token next_page_token prev_page_token previous_page_token next_token continuation_token sync_token
    skip_token delta_token max_token token_hint
    country_code zip_code postal_code post_code currency_code language_code lang_code locale_code region_code area_code
    city_code state_code status_code error_code reason_code response_code exit_code product_code item_code promo_code
    coupon_code discount_code voucher_code hs_code airport_code iata_code icao_code station_code color_code
    order_code category_code type_code unit_code dial_code phone_code company_code store_code source_code tax_code
    commodity_code department_code course_code subject_code bar_code qr_code sort_code icd_code
    sort_key primary_key partition_key foreign_key public_key cache_key order_key group_key row_key hash_key range_key
    object_key lookup_key translation_key message_key issue_key project_key idempotency_key natural_key unique_key
    index_key map_key parent_key field_key column_key property_key config_key setting_key feature_key category_key
    start_key end_key last_key exclusive_start_key last_evaluated_key start_after_key surrogate_key facet_key
    x_amz_signed_headers x_amz_algorithm x_goog_algorithm x_goog_signed_headers
    """

  /// What such a name ends in makes it a secret unless a list knows better.
  static let secretSuffixes: [StaticString] = [
    "token", "secret", "password", "passwd", "passphrase", "signature", "credential", "credentials", "apikey",
    "sessionid",
  ]
  /// The same for words of their own, for there are monkeys and barcodes.
  static let secretLastWords: [StaticString] = ["key", "code", "otp", "jwt"]

  static let table = NameTable([
    (ordinary, []), (oauth, .oauth), (ambiguousOAuth, [.ambiguous, .oauth]), (ambiguous, .ambiguous),
    (secret, .secret), (secretOAuth, [.secret, .oauth]),
  ])
}
