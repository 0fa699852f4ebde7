package dev.kvasir.server.http;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Closes connections that send no whole request head for too long. An idle timeout does not: a
 * client that sends a byte now and then would keep a connection open for hours, and a few thousand
 * of them leave no descriptors for others. Connections with a request in progress stay open.
 */
public final class SlowConnections extends Handler.Wrapper implements Connection.Listener {
  private static final long BUSY = Long.MAX_VALUE;

  private final long limitNanos;
  private final Map<Connection, Long> idleSince = new ConcurrentHashMap<>();

  /**
   * @param limit time from the start of a connection, or from the end of a response, to the end of
   *     the next request's head
   */
  public SlowConnections(Handler handler, Duration limit) {
    super(handler);
    this.limitNanos = limit.toNanos();
  }

  @Override
  protected void doStart() throws Exception {
    super.doStart();
    scheduleNext();
  }

  private void scheduleNext() {
    getServer()
        .getScheduler()
        .schedule(
            () -> {
              closeSlow();
              if (isRunning()) {
                scheduleNext();
              }
            },
            limitNanos / 4,
            TimeUnit.NANOSECONDS);
  }

  private void closeSlow() {
    long now = System.nanoTime();
    idleSince.forEach(
        (connection, since) -> {
          if (since != BUSY && now - since > limitNanos) {
            connection.close();
          }
        });
  }

  @Override
  public void onOpened(Connection connection) {
    idleSince.put(connection, System.nanoTime());
  }

  @Override
  public void onClosed(Connection connection) {
    idleSince.remove(connection);
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) throws Exception {
    Connection connection = request.getConnectionMetaData().getConnection();
    idleSince.replace(connection, BUSY);
    Request.addCompletionListener(
        request, failure -> idleSince.replace(connection, System.nanoTime()));
    return super.handle(request, response, callback);
  }
}
