package dev.kvasir.store.redis;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A real server on a free port, without persistence. */
final class RedisServer implements AutoCloseable {
  private static final int TRIES = 600;

  private final int port;
  private Process process;
  private final List<String> command = new ArrayList<>();

  private RedisServer(int port) {
    this.port = port;
  }

  /** Starts a server; skips the test if none is installed. */
  static RedisServer start(Path folder, String... options) throws Exception {
    Optional<Path> program = program();
    assumeTrue(program.isPresent(), "neither redis-server nor valkey-server is installed");
    RedisServer server = new RedisServer(freePort());
    server.command.addAll(List.of(program.get().toString(), "--port", "" + server.port));
    server.command.addAll(List.of("--bind", "127.0.0.1", "--save", "", "--appendonly", "no"));
    server.command.addAll(List.of("--dir", folder.toString(), "--loglevel", "warning"));
    server.command.addAll(List.of(options));
    server.start();
    return server;
  }

  private static Optional<Path> program() {
    return Stream.of(System.getenv("PATH").split(":"))
        .flatMap(place -> Stream.of("redis-server", "valkey-server").map(Path.of(place)::resolve))
        .filter(Files::isExecutable)
        .findFirst();
  }

  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  void start() throws Exception {
    process = new ProcessBuilder(command).redirectErrorStream(true).start();
    for (int i = 0; i < TRIES && process.isAlive(); i++) {
      if (isListening()) {
        return;
      }
      Thread.sleep(20);
    }
    throw new IOException(
        "the server says: " + new String(process.getInputStream().readAllBytes()));
  }

  private boolean isListening() {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress("127.0.0.1", port), 100);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  int port() {
    return port;
  }

  void stop() {
    process.destroyForcibly().onExit().join();
  }

  @Override
  public void close() {
    stop();
  }
}
