package dev.kvasir.server.watch;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;

/** The log of a server. It records events, never the content of requests. */
public final class ServerLog {
  private final PrintStream out;

  public ServerLog(PrintStream out) {
    this.out = out;
  }

  public void note(String line) {
    out.println(LocalTime.now().truncatedTo(ChronoUnit.SECONDS) + " " + line);
    out.flush();
  }

  /**
   * Logs an exception with its stack trace. Messages are omitted, since they may quote a request.
   */
  public void failure(String what, Throwable why) {
    StringWriter stack = new StringWriter();
    PrintWriter lines = new PrintWriter(stack);
    for (Throwable cause = why; cause != null; cause = cause.getCause()) {
      lines.println(cause.getClass().getName());
      for (StackTraceElement frame : cause.getStackTrace()) {
        lines.println("  at " + frame);
      }
    }
    note(what + ": " + stack);
  }
}
