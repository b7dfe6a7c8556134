import EventLoop
import Glibc
import Testing

@testable import Console

@Suite struct ControlSocketTests {
  private let folder = TemporaryFolder()

  @Test func `the directory is 0700, the socket 0600, and both parents are made`() throws {
    let socket = try ControlSocket(path: "\(folder.path)/a/b/control.sock")
    #expect(folder.mode(of: "a") == 0o700)
    #expect(folder.mode(of: "a/b") == 0o700)
    #expect(folder.mode(of: "a/b/control.sock") == 0o600)
    #expect(socket.path == "\(folder.path)/a/b/control.sock")
  }

  @Test func `a socket somebody listens on is an error`() throws {
    let path = "\(folder.path)/control.sock"
    let socket = try ControlSocket(path: path)
    #expect(throws: ControlSocketError.inUse(path)) { try ControlSocket(path: path) }
    #expect(folder.exists("control.sock"))
    withExtendedLifetime(socket) {}
  }

  @Test func `a socket that a crash left behind is replaced`() throws {
    let path = "\(folder.path)/control.sock"
    let address = try #require(SocketAddress(unixPath: path))
    let crashed = try ListenerGroup(binding: address, count: 1)
    for descriptor in crashed.descriptors { close(descriptor) }
    #expect(folder.exists("control.sock"))
    let socket = try ControlSocket(path: path)
    #expect(try SocketClient(path).descriptor >= 0)
    withExtendedLifetime(socket) {}
  }

  @Test func `a file that is no socket is left alone`() throws {
    folder.write("mine", to: "control.sock")
    let path = "\(folder.path)/control.sock"
    #expect(throws: ControlSocketError.notASocket(path)) { try ControlSocket(path: path) }
    #expect(folder.exists("control.sock"))
  }

  @Test func `a path that is too long is named`() throws {
    let path = "\(folder.path)/\(String(repeating: "a", count: 100))/control.sock"
    #expect(throws: ControlSocketError.pathTooLong(path)) { try ControlSocket(path: path) }
    #expect("\(ControlSocketError.pathTooLong(path))".contains("107"))
  }

  @Test func `a directory that others may write to is refused`() throws {
    mkdir("\(folder.path)/open", 0o700)
    chmod("\(folder.path)/open", 0o770)
    #expect(throws: ControlSocketError.self) { try ControlSocket(path: "\(folder.path)/open/control.sock") }
  }

  @Test func `a file in the place of the directory is refused`() throws {
    folder.write("", to: "run")
    #expect(throws: ControlSocketError.self) { try ControlSocket(path: "\(folder.path)/run/control.sock") }
  }

  @Test func `the socket goes with its owner, but not a newer one in its place`() throws {
    let path = "\(folder.path)/control.sock"
    do { _ = try ControlSocket(path: path) }
    #expect(!folder.exists("control.sock"))
    let old = try ControlSocket(path: path)
    unlink(path)
    let new = try ControlSocket(path: path)
    old.remove()
    #expect(folder.exists("control.sock"))
    withExtendedLifetime(new) {}
  }

  @Test func `the path is in the runtime directory, else in the state directory`() {
    let state = "/home/ada/.local/state/proofd"
    #expect(
      ControlSocketPath.path(environment: ["XDG_RUNTIME_DIR": "/run/user/1"], stateDirectory: state)
        == "/run/user/1/proofd/control.sock")
    for environment in [[:], ["XDG_RUNTIME_DIR": ""], ["XDG_RUNTIME_DIR": "relative"]] {
      #expect(ControlSocketPath.path(environment: environment, stateDirectory: state) == state + "/control.sock")
    }
  }
}
