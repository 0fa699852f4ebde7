package dev.kvasir.cli.terminal;

import dev.kvasir.error.InvalidInputException;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The standard streams of a command, and which of them are terminals. Text is always UTF-8,
 * independent of the locale.
 */
public record Streams(
    InputStream in,
    PrintStream out,
    PrintStream err,
    boolean inIsTerminal,
    boolean outIsTerminal,
    boolean errIsTerminal) {

  /**
   * The launcher lists here which of in, out and err are terminals; Java cannot tell them apart.
   */
  private static final String TERMINALS = "kvasir.terminals";

  public static Streams ofThisProcess() {
    List<String> terminals = terminals();
    PrintStream out = utf8(new FileOutputStream(FileDescriptor.out), false);
    // Progress must be visible immediately, also in a log.
    PrintStream err = utf8(new FileOutputStream(FileDescriptor.err), true);
    System.setOut(out);
    System.setErr(err);
    return new Streams(
        System.in,
        out,
        err,
        terminals.contains("in"),
        terminals.contains("out"),
        terminals.contains("err"));
  }

  private static List<String> terminals() {
    String property = System.getProperty(TERMINALS);
    if (property != null) {
      return List.of(property.split(","));
    }
    boolean interactive = System.console() != null && System.console().isTerminal();
    return interactive ? List.of("in", "out", "err") : List.of();
  }

  private static PrintStream utf8(OutputStream stream, boolean lineByLine) {
    return new PrintStream(
        new BufferedOutputStream(stream, 8192), lineByLine, StandardCharsets.UTF_8);
  }

  public PrintWriter outWriter() {
    return new PrintWriter(out, true, StandardCharsets.UTF_8);
  }

  public PrintWriter errWriter() {
    return new PrintWriter(err, true, StandardCharsets.UTF_8);
  }

  public boolean outHasColours() {
    return outIsTerminal && coloursAllowed();
  }

  boolean errHasColours() {
    return errIsTerminal && coloursAllowed();
  }

  /** See no-color.org; a dumb terminal prints escape codes literally. */
  private static boolean coloursAllowed() {
    String noColour = System.getenv("NO_COLOR");
    return (noColour == null || noColour.isEmpty()) && !"dumb".equals(System.getenv("TERM"));
  }

  /** Prints a note on standard error, dimmed if possible. */
  public void note(String line) {
    err.println(errHasColours() ? "\u001b[2m" + line + "\u001b[0m" : line);
    err.flush();
  }

  /** Reads all of standard input. */
  public String readAll() {
    try {
      byte[] bytes = in.readAllBytes();
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new InvalidInputException("standard input: is not UTF-8", e);
    } catch (IOException e) {
      throw new UncheckedIOException("standard input: cannot be read", e);
    }
  }

  /**
   * Prints text unchanged. On a terminal it ends the line, so that the shell prompt starts on a new
   * one.
   */
  public void printExactly(String text) {
    out.print(text);
    if (outIsTerminal && !text.endsWith("\n")) {
      out.println();
    }
    out.flush();
  }
}
