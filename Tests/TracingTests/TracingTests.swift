// TracingTests
