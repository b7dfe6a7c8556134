// OAuthTests
