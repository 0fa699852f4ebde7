package dev.kvasir.cli.setup;

import java.util.Optional;

/**
 * One line of {@link Doctor}.
 *
 * @param subject what was checked
 * @param finding what was found
 * @param advice what to do; empty if all is well
 */
record Check(String subject, String finding, Optional<String> advice) {
  static Check ok(String subject, String finding) {
    return new Check(subject, finding, Optional.empty());
  }

  static Check warning(String subject, String finding, String advice) {
    return new Check(subject, finding, Optional.of(advice));
  }

  /** Returns a warning if something is wrong. */
  static Check of(String subject, String finding, boolean isWrong, String advice) {
    return isWrong ? warning(subject, finding, advice) : ok(subject, finding);
  }

  boolean isOk() {
    return advice.isEmpty();
  }
}
