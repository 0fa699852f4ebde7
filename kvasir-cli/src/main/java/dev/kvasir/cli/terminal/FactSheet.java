package dev.kvasir.cli.terminal;

import java.io.PrintStream;

/** Prints aligned lines of a name and its value. */
public final class FactSheet {
  private static final int NAME_WIDTH = 16;

  private final PrintStream out;
  private final boolean colours;

  public FactSheet(PrintStream out, boolean colours) {
    this.out = out;
    this.colours = colours;
  }

  public void line(String name, Object value) {
    String padded = "%-" + NAME_WIDTH + "s";
    String shown = padded.formatted(name);
    out.println((colours ? "\u001b[1m" + shown + "\u001b[0m" : shown) + printable(value));
  }

  /** Removes control characters; names in a model file may contain escape codes. */
  private static String printable(Object value) {
    return value.toString().replaceAll("\\p{Cntrl}", "?");
  }
}
