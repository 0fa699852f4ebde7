package dev.kvasir.cli.arguments;

import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Text that a user typed, piped in, or keeps in a file. */
public final class TextArgument {
  private static final String STANDARD_INPUT = "-";

  private TextArgument() {}

  /** The argument itself, or standard input where it is a dash or missing with a pipe there. */
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

  /** Editors and echo end a text with a line break that its writer did not mean. */
  public static String withoutLastLineBreak(String text) {
    if (text.endsWith("\r\n")) {
      return text.substring(0, text.length() - 2);
    }
    return text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
  }
}
