#pragma once
#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/rand.h>
#include <openssl/pem.h>
#include <openssl/core_names.h>
#include <openssl/param_build.h>
#include <openssl/x509v3.h>

// OpenSSL's function-like macros, as functions.
static inline long proofd_SSL_CTX_set_mode(SSL_CTX *context, long mode) { return SSL_CTX_set_mode(context, mode); }
static inline int proofd_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
  return SSL_CTX_set_min_proto_version(context, version);
}
static inline void proofd_SSL_CTX_set_read_ahead(SSL_CTX *context, int on) { SSL_CTX_set_read_ahead(context, on); }
static inline long proofd_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
  return SSL_set_tlsext_host_name(ssl, name);
}
static const uint64_t proofd_SSL_OP_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;
static inline void proofd_SSL_CTX_set_default_read_buffer_len(SSL_CTX *context, size_t bytes) {
  SSL_CTX_set_default_read_buffer_len(context, bytes);
}
static inline long proofd_SSL_CTX_set_session_cache_mode(SSL_CTX *context, long mode) {
  return SSL_CTX_set_session_cache_mode(context, mode);
}

// A composed constant of OpenSSL's, which the importer can't evaluate.
static const int proofd_EVP_PKEY_PUBLIC_KEY = EVP_PKEY_PUBLIC_KEY;

// A parameter of EVP_KDF keeps a pointer to its name, which Swift's String can't give.
static inline int proofd_scrypt(
    EVP_KDF_CTX *context, const uint8_t *passphrase, size_t passphraseBytes, const uint8_t *salt, size_t saltBytes,
    uint64_t n, uint32_t r, uint32_t p, uint64_t memoryBytesMax, uint8_t *key, size_t keyBytes) {
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PASSWORD, (void *)passphrase, passphraseBytes),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, saltBytes),
      OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_N, &n),
      OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_R, &r),
      OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_P, &p),
      OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_MAXMEM, &memoryBytesMax),
      OSSL_PARAM_construct_end()};
  return EVP_KDF_derive(context, key, keyBytes, parameters);
}
static inline int proofd_pbkdf2_sha256(
    EVP_KDF_CTX *context, const uint8_t *passphrase, size_t passphraseBytes, const uint8_t *salt, size_t saltBytes,
    uint64_t iterations, uint8_t *key, size_t keyBytes) {
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PASSWORD, (void *)passphrase, passphraseBytes),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, saltBytes),
      OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_ITER, &iterations),
      OSSL_PARAM_construct_end()};
  return EVP_KDF_derive(context, key, keyBytes, parameters);
}
