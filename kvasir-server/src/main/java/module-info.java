/** A server that speaks the OpenAI protocol. */
module dev.kvasir.server {
  requires transitive dev.kvasir.core;
  requires dev.kvasir.store;
  requires com.google.gson;
  requires org.eclipse.jetty.http;
  requires org.eclipse.jetty.io;
  requires org.eclipse.jetty.server;
  requires org.eclipse.jetty.util;

  exports dev.kvasir.server;
  exports dev.kvasir.server.api to
      dev.kvasir.cli;
  exports dev.kvasir.server.watch to
      dev.kvasir.bench,
      dev.kvasir.cli,
      dev.kvasir.telemetry;

  uses dev.kvasir.server.watch.Telemetry.Provider;
}
