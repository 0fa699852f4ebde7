package dev.kvasir.lab.report;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Optional;

/**
 * The origin of measurements, to make them reproducible.
 *
 * @param command command as typed
 * @param version program version
 * @param commit source commit, if known
 * @param when end of the evaluation
 */
public record Provenance(String command, String version, Optional<String> commit, Instant when) {
  private static final DateTimeFormatter MINUTE =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm 'UTC'").withZone(ZoneOffset.UTC);

  public String date() {
    return MINUTE.format(when);
  }
}
