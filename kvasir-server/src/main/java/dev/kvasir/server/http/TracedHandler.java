package dev.kvasir.server.http;

import dev.kvasir.server.watch.Telemetry;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** Continues the trace that a client began, for as long as a thread handles its request. */
public final class TracedHandler extends Handler.Wrapper {
  private final Telemetry telemetry;

  public TracedHandler(Handler handler, Telemetry telemetry) {
    super(handler);
    this.telemetry = telemetry;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) throws Exception {
    try (Telemetry.Scope _ = telemetry.continueTrace(request.getHeaders()::get)) {
      return super.handle(request, response, callback);
    }
  }
}
