package dev.kvasir.lab.claim;

import dev.kvasir.error.InvalidInputException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** All claims, judged by the measurements in a folder. */
public final class Ledger {
  /** A claim with its number in the ledger, from 1 on, and its finding. */
  public record Entry(int number, Claim claim, Finding finding) {}

  private static final List<Claim> CLAIMS =
      Stream.of(PatternkvClaims.ALL, PmkvqClaims.ALL, MixkvqClaims.ALL, CommvqClaims.ALL)
          .flatMap(List::stream)
          .toList();

  private final Path folder;
  private final Map<Path, Optional<Measurements>> read = new HashMap<>();

  /**
   * @param folder folder with the measurements of experiments
   */
  public Ledger(Path folder) {
    this.folder = folder;
  }

  public List<Entry> entries() {
    List<Entry> entries = new ArrayList<>();
    for (Claim claim : CLAIMS) {
      entries.add(new Entry(entries.size() + 1, claim, judge(claim)));
    }
    return entries;
  }

  private Finding judge(Claim claim) {
    return read.computeIfAbsent(claim.experiment().file(folder), Measurements::read)
        .map(claim.check()::judge)
        .orElse(Finding.NONE);
  }

  /** Returns the experiment for the claim of that number; rejects an unknown number. */
  public static Experiment experiment(int number) {
    if (number < 1 || number > CLAIMS.size()) {
      throw new InvalidInputException(
          "claim %d is unknown; known are 1 to %d".formatted(number, CLAIMS.size()));
    }
    return CLAIMS.get(number - 1).experiment();
  }
}
