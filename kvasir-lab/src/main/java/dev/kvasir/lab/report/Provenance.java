package dev.kvasir.lab.report;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Optional;

/**
 * Where figures come from, so that they can be measured again.
 *
 * @param command as typed
 * @param version of the program
 * @param commit of its sources, where it is known
 * @param when the evaluation ended
 */
public record Provenance(String command, String version, Optional<String> commit, Instant when) {
  private static final DateTimeFormatter MINUTE =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm 'UTC'").withZone(ZoneOffset.UTC);

  public String date() {
    return MINUTE.format(when);
  }
}
