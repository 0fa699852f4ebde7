package dev.kvasir.cli.session;

/** Text from files, made safe for a terminal. */
final class Printable {
  private static final int HASH_DIGITS = 12;

  private Printable() {}

  /** Returns enough digits of a hash to identify it. */
  static String shortHash(String hash) {
    return of(hash.length() <= HASH_DIGITS ? hash : hash.substring(0, HASH_DIGITS));
  }

  /** Replaces control characters, so that escape codes from a file do not reach the terminal. */
  static String of(String text) {
    return text.replaceAll("\\p{Cntrl}", "?");
  }
}
