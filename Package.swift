// swift-tools-version: 6.2
import PackageDescription

// The layers, lowest first; Tests/LayerTests holds every import line to this table.
//
//   1  CLinux  CLibevent  COpenSSL  CSQLite  CYAML  CZlib    module map and shim.h
//      Locking
//   2  EventLoop  Cryptography
//   3  HTTPWire
//   4  HTTPTransport  OAuth  Tracing
//   5  Credentials  Configuration                     (Simulators stands beside 4 and 5)
//   6  Gateway  Console
//   7  Daemon  Commands
//   8  proofd  proofd-sim

let strict: [SwiftSetting] = [
  // Exclusive access is checked at run time in debug and sanitizer builds; in release those checks took 18 % of a
  // request's instructions.
  .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(
  _ module: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [], resources: [Resource]? = nil
) -> Target {
  .testTarget(
    name: "\(module)Tests",
    dependencies: [.byName(name: module)] + dependencies,
    exclude: exclude,
    resources: resources,
    swiftSettings: strict)
}

let package = Package(
  name: "proofd",
  products: [
    .executable(name: "proofd", targets: ["proofd"]),
    .executable(name: "proofd-sim", targets: ["proofd-sim"]),
  ],
  targets: [
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CLibevent", pkgConfig: "libevent", providers: [.apt(["libevent-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

    module("Locking"),
    module("EventLoop", ["Locking", "CLinux", "CLibevent", "COpenSSL"]),
    module("Cryptography", ["COpenSSL"]),
    module("HTTPWire"),
    module("HTTPTransport", ["HTTPWire", "EventLoop", "Locking"]),
    module("OAuth", ["HTTPWire", "Cryptography", "Locking"]),
    module("Tracing", ["HTTPWire", "EventLoop", "Cryptography", "Locking"]),
    module(
      "Credentials", ["Tracing", "OAuth", "HTTPWire", "EventLoop", "Cryptography", "Locking", "CSQLite"]),
    module("Configuration", ["CYAML", "OAuth", "HTTPWire", "Cryptography"]),
    module("Simulators", ["HTTPTransport", "HTTPWire", "EventLoop", "Cryptography", "Locking"]),
    module(
      "Gateway",
      [
        "Credentials", "Configuration", "Tracing", "OAuth", "HTTPTransport", "HTTPWire", "EventLoop", "Cryptography",
        "Locking",
      ]),
    module("Console", ["Credentials", "Tracing", "HTTPTransport", "HTTPWire", "EventLoop", "Cryptography", "Locking"]),
    module(
      "Daemon",
      [
        "Gateway", "Console", "Credentials", "Configuration", "Tracing", "OAuth", "HTTPTransport", "HTTPWire",
        "EventLoop", "Cryptography", "Locking",
      ]),
    module(
      "Commands",
      [
        "Daemon", "Console", "Credentials", "Configuration", "Tracing", "HTTPTransport", "HTTPWire", "EventLoop",
        "Cryptography", "Locking",
      ]),
    .executableTarget(name: "proofd", dependencies: ["Commands"], swiftSettings: strict),
    .executableTarget(name: "proofd-sim", dependencies: ["Simulators"], swiftSettings: strict),

    // What tests of sockets stand on: a loop turned by hand, and bare sockets as the other side.
    .target(
      name: "LoopbackPeers", dependencies: ["EventLoop", "Locking"], path: "Tests/LoopbackPeers", swiftSettings: strict),

    // A benchmark of Tests/Benchmarks: proofs beside raw signatures in one process.
    .executableTarget(
      name: "ProofRate", dependencies: ["Cryptography", "COpenSSL"], path: "Tests/Benchmarks/ProofRate",
      swiftSettings: strict),

    // `proofd` that dies where a test says; see test_killed_refreshes.py.
    .executableTarget(
      name: "CrashingProofd", dependencies: ["Commands", "Daemon", "EventLoop", "Locking"],
      path: "Tests/EndToEnd/CrashingProofd", swiftSettings: strict),

    // What tests of several processes on one credential store start.
    .executableTarget(
      name: "StoreProbe", dependencies: ["Credentials", "Cryptography"], path: "Tests/StoreProbe",
      swiftSettings: strict),

    tests("Locking"),
    tests("Cryptography"),
    tests("EventLoop", ["LoopbackPeers"]),
    tests("HTTPWire"),
    tests("HTTPTransport", ["LoopbackPeers", "HTTPWire", "EventLoop"]),
    tests("OAuth", ["HTTPWire", "Cryptography"]),
    tests("Tracing", ["HTTPWire", "EventLoop", "Cryptography", "Locking"]),
    tests("Credentials", ["OAuth", "HTTPWire", "EventLoop", "Cryptography", "Locking"], exclude: ["Fixtures"]),
    tests("Configuration", ["HTTPWire", "Cryptography"]),
    tests("Simulators", ["HTTPTransport", "HTTPWire", "EventLoop", "Cryptography"]),
    tests(
      "Gateway",
      [
        "LoopbackPeers", "Simulators", "Credentials", "Configuration", "Tracing", "OAuth", "HTTPTransport", "HTTPWire",
        "EventLoop", "Cryptography", "Locking",
      ]),
    tests("Console", ["Credentials", "Tracing", "HTTPTransport", "HTTPWire", "EventLoop", "Cryptography", "Locking"]),
    tests("Commands", ["Tracing", "HTTPWire", "EventLoop", "Cryptography"]),
    tests(
      "Daemon",
      [
        "LoopbackPeers", "Simulators", "Credentials", "Configuration", "OAuth", "HTTPWire", "EventLoop", "Cryptography",
        "Locking",
      ],
      exclude: ["README.md"]),
    .testTarget(name: "LayerTests", swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
