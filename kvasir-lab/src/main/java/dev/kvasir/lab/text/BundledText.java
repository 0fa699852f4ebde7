package dev.kvasir.lab.text;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The texts that come with the lab: prose written by {@link SampleText}, and a book by a human. */
public final class BundledText {
  static final String STREAM_FILE = "stream.txt";
  static final String FILLER_FILE = "filler.txt";

  /** Name of {@link #book} in messages and tables. */
  public static final String BOOK_NAME = "Moby-Dick";

  private BundledText() {}

  /** Returns the first chapters of a novel; {@code book-source.txt} names its source. */
  public static String book() {
    return read("book.txt");
  }

  /** Returns the text for perplexity and divergence; 20,000 tokens of the bundled model. */
  public static String stream() {
    return read(STREAM_FILE);
  }

  /** Returns the filler that hides secret numbers; 32,000 tokens of the bundled model. */
  public static String filler() {
    return read(FILLER_FILE);
  }

  static String read(String name) {
    try (InputStream stream = BundledText.class.getResourceAsStream(name)) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
