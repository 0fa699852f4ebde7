package dev.kvasir.store.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** A server that accepts connections and then does not behave like Redis. */
final class FaultyServer implements AutoCloseable {
  /** What the server does with a connection. */
  interface Behavior {
    void with(Socket socket) throws IOException, InterruptedException;
  }

  private final ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
  private final AtomicInteger accepted = new AtomicInteger();

  FaultyServer(Behavior behavior) throws IOException {
    Thread.ofPlatform().daemon().start(() -> accept(behavior));
  }

  private void accept(Behavior behavior) {
    while (!listening.isClosed()) {
      try {
        Socket socket = listening.accept();
        accepted.incrementAndGet();
        sockets.add(socket);
        Thread.ofPlatform().daemon().start(() -> talk(socket, behavior));
      } catch (IOException e) {
        return;
      }
    }
  }

  private static void talk(Socket socket, Behavior behavior) {
    try {
      behavior.with(socket);
    } catch (IOException | InterruptedException e) {
      // The client has disconnected.
    }
  }

  /** Returns the number of connections so far. */
  int accepted() {
    return accepted.get();
  }

  RedisAddress address() {
    return RedisAddress.parse("redis://127.0.0.1:" + listening.getLocalPort());
  }

  @Override
  public void close() throws IOException {
    listening.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
