package dev.kvasir.server.watch;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;

/** What an operator reads: what happened, never what was said. */
public final class ServerLog {
  private final PrintStream out;

  public ServerLog(PrintStream out) {
    this.out = out;
  }

  public void note(String line) {
    out.println(LocalTime.now().truncatedTo(ChronoUnit.SECONDS) + " " + line);
    out.flush();
  }

  /** A failure with its stack, whose message may quote a request and is left out. */
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
