package dev.kvasir.lab.report;

import dev.kvasir.format.ContentHash;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The content security policy of a page: it allows these scripts only and no requests. Text that
 * escaped the escaping as markup could still not run.
 */
final class ContentPolicy {
  private ContentPolicy() {}

  static String allowing(List<String> scripts) {
    return "default-src 'none'; style-src 'unsafe-inline'; script-src %s"
        .formatted(scripts.stream().map(ContentPolicy::hash).collect(Collectors.joining(" ")));
  }

  private static String hash(String script) {
    return "'sha256-%s'".formatted(Base64.getEncoder().encodeToString(ContentHash.of(script)));
  }
}
