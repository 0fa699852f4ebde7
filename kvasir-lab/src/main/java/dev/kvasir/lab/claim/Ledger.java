package dev.kvasir.lab.claim;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.claim.Trial.Form;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** All claims, judged by the measurements in a folder and its folders of other models. */
public final class Ledger {
  /** A trial of a claim on a model, and what was found. */
  public record Result(Trial trial, TestBed bed, Finding finding) {}

  /**
   * A claim with its number in the ledger, from 1 on.
   *
   * @param results what was measured; empty if nothing was
   */
  public record Entry(int number, Claim claim, List<Result> results) {
    /** Returns the verdict on a model: that in the paper's form if there is one. */
    public Verdict verdict(TestBed bed) {
      return result(bed, Form.PAPER)
          .or(() -> result(bed, Form.EQUAL))
          .map(result -> result.finding().verdict())
          .orElse(Verdict.NOT_TRIED);
    }

    /** Returns the first result on a model in a form. */
    Optional<Result> result(TestBed bed, Form form) {
      return results.stream()
          .filter(result -> result.bed() == bed && result.trial().form() == form)
          .findFirst();
    }
  }

  private static final List<Claim> CLAIMS =
      Stream.of(PatternkvClaims.ALL, PmkvqClaims.ALL, MixkvqClaims.ALL, CommvqClaims.ALL)
          .flatMap(List::stream)
          .toList();

  private final Path folder;
  private final Map<Path, Optional<Measurements>> read = new HashMap<>();

  /**
   * @param folder folder with the measurements of experiments on the bundled model
   */
  public Ledger(Path folder) {
    this.folder = folder;
  }

  public List<Entry> entries() {
    List<Entry> entries = new ArrayList<>();
    for (Claim claim : CLAIMS) {
      entries.add(new Entry(entries.size() + 1, claim, results(claim)));
    }
    return entries;
  }

  private List<Result> results(Claim claim) {
    List<Result> results = new ArrayList<>();
    for (TestBed bed : TestBed.values()) {
      for (Trial trial : claim.trials()) {
        Finding finding = judge(trial, bed);
        if (finding.verdict() != Verdict.NOT_TRIED) {
          results.add(new Result(trial, bed, finding));
        }
      }
    }
    return results;
  }

  private Finding judge(Trial trial, TestBed bed) {
    if (!trial.experiment().measures(bed)) {
      return Finding.NONE;
    }
    return read.computeIfAbsent(trial.experiment().file(folder, bed), Measurements::read)
        .map(trial.check()::judge)
        .orElse(Finding.NONE);
  }

  /** Returns the claim of that number; rejects an unknown number. */
  public Entry entry(int number) {
    checkNumber(number);
    Claim claim = CLAIMS.get(number - 1);
    return new Entry(number, claim, results(claim));
  }

  /** Returns the trials for the claim of that number; rejects an unknown number. */
  public static List<Trial> trials(int number) {
    checkNumber(number);
    return CLAIMS.get(number - 1).trials();
  }

  private static void checkNumber(int number) {
    if (number < 1 || number > CLAIMS.size()) {
      throw new InvalidInputException(
          "claim %d is unknown; known are 1 to %d".formatted(number, CLAIMS.size()));
    }
  }
}
