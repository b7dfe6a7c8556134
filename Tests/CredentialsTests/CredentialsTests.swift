// CredentialsTests
