package dev.kvasir.lab.dataset;

import dev.kvasir.lab.text.BundledText;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Lines of our own in the formats of benchmarks, so that quick runs need no download. */
final class StandIns {
  /** Replaced by prose, so that a context is long enough to be quantized. */
  private static final String PROSE = "{prose}";

  private static final int PROSE_CHARS = 600;

  private StandIns() {}

  static String lines(String name) {
    String resource = "standin/%s.jsonl".formatted(name);
    try (InputStream stream = StandIns.class.getResourceAsStream(resource)) {
      String text = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
      return text.replace(PROSE, prose());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String prose() {
    String filler = BundledText.filler();
    String start = filler.substring(0, Math.min(PROSE_CHARS, filler.length()));
    return start.replaceAll("[\\\\\"\\s]+", " ");
  }
}
