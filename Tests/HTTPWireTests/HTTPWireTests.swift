// HTTPWireTests
