package dev.kvasir.chat.syntax;

/** What a reader did with a character. */
enum Step {
  /** The character was read; more may follow. */
  MORE,
  /** The character was the last one. */
  DONE,
  /** The text ended before this character, which was not read. */
  DONE_BEFORE,
  /** The text cannot continue with this character, which was not read. */
  MALFORMED
}
