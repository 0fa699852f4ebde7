package dev.kvasir.codec.mead;

import dev.kvasir.profile.Profile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How caches with a profile fared on questions of kinds that calibration never saw, and on prose.
 * The profile records it as text.
 *
 * @param results one for each number of bits
 */
public record MeadCheck(List<Result> results) {
  /** With fewer questions that fp16 answers, they tell nothing. */
  private static final int MIN_QUESTIONS = 8;

  /** Fraction of the answers of fp16 that a cache must keep. */
  private static final double MIN_KEPT = 0.9;

  private static final String SEPARATOR = "; ";

  /** Ends the text. Earlier versions lack it: their caches of the same bits had larger pages. */
  private static final String COUNTED = "bits count all bytes of a sequence";

  private static final Pattern RESULT =
      Pattern.compile(
          "mead:([0-9.]+) keeps (\\d+) of (\\d+) answers and ([0-9.]+)% of next tokens");

  /**
   * The result of one cache.
   *
   * @param questions questions that fp16 answers
   * @param kept questions that the cache answers too
   * @param sameNext fraction of prose positions where both predict the same token
   */
  public record Result(double bits, int questions, int kept, double sameNext) {
    boolean isGood() {
      return kept >= MIN_KEPT * questions;
    }

    boolean isConclusive() {
      return questions >= MIN_QUESTIONS;
    }

    private String text() {
      return String.format(
          Locale.ROOT,
          "mead:%s keeps %d of %d answers and %.1f%% of next tokens",
          bitsText(bits),
          kept,
          questions,
          100 * sameNext);
    }
  }

  /** Returns the text that the profile records. */
  public String text() {
    return Stream.concat(results.stream().map(Result::text), Stream.of(COUNTED))
        .collect(Collectors.joining(SEPARATOR));
  }

  /** Returns what the profile is good for, in a few words. */
  public String verdict() {
    if (results.stream().noneMatch(Result::isConclusive)) {
      return "the model answers too few of the questions to judge tasks";
    }
    return results.stream()
        .sorted(Comparator.comparingDouble(Result::bits))
        .filter(Result::isGood)
        .findFirst()
        .map(least -> "good for questions from mead:%s on".formatted(bitsText(least.bits)))
        .orElse("not good for questions about a text; calibrate with more texts, or use more bits");
  }

  /** Returns a profile's note as {@code inspect} shows it. */
  public static String shown(String note) {
    return isCurrent(note)
        ? note
        : note + "; by an earlier version, whose caches of the same bits take more bytes";
  }

  private static boolean isCurrent(String note) {
    return note.endsWith(COUNTED);
  }

  /**
   * Returns the check that a profile records for the tables that a cache uses by default. Of one by
   * an earlier version, only results that were not good hold for this one, which has fewer bytes.
   */
  public static Optional<MeadCheck> of(Profile profile) {
    return Arrays.stream(TableKind.values())
        .map(kind -> profile.note(Profile.checkNote(kind.part())))
        .flatMap(Optional::stream)
        .findFirst()
        .map(note -> isCurrent(note) ? parse(note) : parse(note).withoutGood());
  }

  private MeadCheck withoutGood() {
    return new MeadCheck(results.stream().filter(result -> !result.isGood()).toList());
  }

  private static MeadCheck parse(String text) {
    List<Result> results = new ArrayList<>();
    for (String one : text.split(SEPARATOR)) {
      Matcher match = RESULT.matcher(one);
      if (match.matches()) {
        results.add(
            new Result(
                Double.parseDouble(match.group(1)),
                Integer.parseInt(match.group(3)),
                Integer.parseInt(match.group(2)),
                Double.parseDouble(match.group(4)) / 100));
      }
    }
    return new MeadCheck(List.copyOf(results));
  }

  /**
   * Returns a warning for a cache of so many bits or fewer than one that lost answers in the check;
   * empty if there is none.
   */
  public Optional<String> warning(double bits) {
    return results.stream()
        .filter(result -> result.bits >= bits && result.isConclusive() && !result.isGood())
        .findFirst()
        .map(
            result ->
                "the profile may not fit your task: in its check mead:%s kept %d of %d answers"
                    .formatted(bitsText(result.bits), result.kept, result.questions));
  }

  private static String bitsText(double bits) {
    return bits == Math.rint(bits) ? String.valueOf((long) bits) : String.valueOf(bits);
  }
}
