package dev.kvasir.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A real Redis or Valkey server on a free port, without persistence. */
final class TestRedis implements AutoCloseable {
  private final Process process;
  private final int port;

  private TestRedis(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /** Starts a server, or skips the test if none is installed. */
  static TestRedis start(Path folder) throws Exception {
    Optional<Path> program =
        Stream.of(System.getenv("PATH").split(":"))
            .flatMap(
                directory ->
                    Stream.of("redis-server", "valkey-server").map(Path.of(directory)::resolve))
            .filter(Files::isExecutable)
            .findFirst();
    assumeTrue(program.isPresent(), "neither redis-server nor valkey-server is installed");
    int port = freePort();
    List<String> command =
        Stream.of("--port " + port, "--bind 127.0.0.1", "--appendonly no", "--dir " + folder)
            .flatMap(option -> Stream.of(option.split(" ", 2)))
            .toList();
    ProcessBuilder builder = new ProcessBuilder(program.get().toString());
    builder.command().addAll(command);
    builder.command().addAll(List.of("--save", ""));
    Process process =
        builder
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("redis.log").toFile())
            .start();
    TestRedis redis = new TestRedis(process, port);
    redis.awaitListening();
    return redis;
  }

  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private void awaitListening() throws Exception {
    while (process.isAlive()) {
      try (Socket _ = new Socket("127.0.0.1", port)) {
        return;
      } catch (IOException e) {
        Thread.sleep(20);
      }
    }
    throw new IOException("the server has ended with " + process.exitValue());
  }

  String address() {
    return "redis://127.0.0.1:" + port;
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}
