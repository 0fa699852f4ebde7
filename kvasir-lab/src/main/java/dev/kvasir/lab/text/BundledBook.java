package dev.kvasir.lab.text;

/**
 * The first chapters of a novel: human-written prose, unlike the generated bundled text. {@code
 * book-source.txt} names its source.
 */
public final class BundledBook {
  /** Name in messages and tables. */
  public static final String NAME = "Moby-Dick";

  private BundledBook() {}

  public static String text() {
    return BundledText.read("book.txt");
  }
}
