// SimulatorsTests
