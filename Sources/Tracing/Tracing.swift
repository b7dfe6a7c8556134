// Tracing
