package dev.kvasir.lab.text;

/**
 * The first chapters of a novel: prose that people wrote, beside what the bundled model made up.
 * {@code book-source.txt} beside it says where it comes from.
 */
public final class BundledBook {
  /** What messages and tables call it. */
  public static final String NAME = "Moby-Dick";

  private BundledBook() {}

  public static String text() {
    return BundledText.read("book.txt");
  }
}
