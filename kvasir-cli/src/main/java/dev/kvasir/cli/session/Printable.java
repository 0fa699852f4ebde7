package dev.kvasir.cli.session;

/** What files say of themselves, fit for a terminal. */
final class Printable {
  private static final int HASH_DIGITS = 12;

  private Printable() {}

  /** Enough of a hash to tell it from another. */
  static String shortHash(String hash) {
    return of(hash.length() <= HASH_DIGITS ? hash : hash.substring(0, HASH_DIGITS));
  }

  /** A terminal must not obey escape codes that came out of a file. */
  static String of(String text) {
    return text.replaceAll("\\p{Cntrl}", "?");
  }
}
