package dev.kvasir.server.http;

import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** Passes requests of one port to the probes, and all others to the main router. */
public final class ProbePort extends Handler.Abstract {
  private final Connector port;
  private final Router probes;
  private final Router main;

  public ProbePort(Connector port, Router probes, Router main) {
    super(InvocationType.BLOCKING);
    this.port = port;
    this.probes = probes;
    this.main = main;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    boolean isProbe = request.getConnectionMetaData().getConnector() == port;
    return (isProbe ? probes : main).handle(request, response, callback);
  }
}
