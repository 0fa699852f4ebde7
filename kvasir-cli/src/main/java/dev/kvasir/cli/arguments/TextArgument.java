package dev.kvasir.cli.arguments;

import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Text that a user types, pipes in or has in a file. */
public final class TextArgument {
  private static final String STANDARD_INPUT = "-";

  private TextArgument() {}

  /** Returns the argument, or standard input if it is a dash or missing with a pipe attached. */
  public static String read(String argument, Streams streams, String sentenceWhenMissing) {
    if (argument != null && !argument.equals(STANDARD_INPUT)) {
      return argument;
    }
    if (argument == null && streams.inIsTerminal()) {
      throw new InvalidInputException(sentenceWhenMissing);
    }
    return streams.readAll();
  }

  public static String readFile(Path file) {
    try {
      return Files.readString(file);
    } catch (NoSuchFileException e) {
      throw new InvalidInputException(file + ": no such file", e);
    } catch (IOException e) {
      String problem =
          Files.isDirectory(file)
              ? "is a folder; a file was expected"
              : "cannot be read as UTF-8: " + e.getMessage();
      throw new InvalidInputException(file + ": " + problem, e);
    }
  }

  /** Removes one trailing line break, which editors and echo add. */
  public static String withoutLastLineBreak(String text) {
    if (text.endsWith("\r\n")) {
      return text.substring(0, text.length() - 2);
    }
    return text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
  }
}
