package dev.kvasir.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.error.InvalidInputException;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Whatever a hub answers is a listing or one sentence. */
class HubListingFuzzTest {
  private static final long SEED = 20260718;
  private static final int ROUNDS = Boolean.getBoolean("kvasir.thorough") ? 100_000 : 5_000;
  private static final String ANSWER =
      """
      {"id":"a/b","sha":"0123456789012345678901234567890123456789","gated":false,"siblings":[\
      {"rfilename":"m-Q4_K_M-00001-of-00002.gguf","size":7,"lfs":{"sha256":"%s","size":7}},\
      {"rfilename":"m-Q4_K_M-00002-of-00002.gguf","size":8,"blobId":"%s"},\
      {"rfilename":"config.json","size":2},{"rfilename":"model.safetensors","size":1e3}]}"""
          .formatted("a".repeat(64), "b".repeat(40));

  private static final String[] PIECES = {
    "\"",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "null",
    "true",
    "-1",
    "1e400",
    "1.5",
    "\\u0000",
    "../",
    "\\",
    "/",
    "",
    "99999999999999999999",
    "\"sha\":",
    "\"size\":",
    "siblings",
    "-00001-of-99999",
    "\ud800",
    "con",
    "[[[[[[[["
  };

  @Test
  void fuzzedAnswersNeverCrash() {
    Random random = new Random(SEED);
    HubReference reference = HubReference.parse("hf:a/b");
    int chosen = 0;
    for (int round = 0; round < ROUNDS; round++) {
      String answer = mutated(random);
      try {
        HubListing listing = HubListing.parse("hf:a/b", answer);
        if (!listing.files().stream().allMatch(file -> SafePath.isRelative(file.path()))) {
          throw new IllegalStateException("an unsafe path");
        }
        ModelChoice.of(reference, listing);
        chosen++;
      } catch (InvalidInputException e) {
        if (e.getMessage().length() > 2000 || e.getMessage().contains("\n")) {
          throw new AssertionError("seed %d, round %d".formatted(SEED, round), e);
        }
      } catch (RuntimeException e) {
        throw new AssertionError("seed %d, round %d: %s".formatted(SEED, round, answer), e);
      }
    }
    assertThat(chosen).isBetween(1, ROUNDS - 1);
  }

  private static String mutated(Random random) {
    StringBuilder text = new StringBuilder(ANSWER);
    for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
      int at = random.nextInt(text.length());
      int to = Math.min(text.length(), at + random.nextInt(1 + random.nextInt(30)));
      text.replace(at, to, PIECES[random.nextInt(PIECES.length)]);
    }
    return text.toString();
  }
}
