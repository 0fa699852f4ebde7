package dev.kvasir.lab.calibrate;

import dev.kvasir.Model;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.task.Seeds;
import dev.kvasir.text.Tokenizer;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/**
 * Samples of a long text, of one length, as token ids.
 *
 * @param samples each begins as the model's texts begin, with its BOS token where it has one
 */
public record CalibrationTexts(List<int[]> samples) {
  /**
   * Samples where nothing else is asked for. The paper takes 512 of them; on the bundled model
   * eight take a few minutes of two cores.
   */
  public static final int COUNT = 8;

  /** Tokens of a sample where nothing else is asked for, as in the paper. */
  public static final int LENGTH = 2048;

  /**
   * Cuts the text into as many stretches as there are samples, and takes one at a random place of
   * each, so that they come from everywhere and overlap only where the text is short.
   *
   * @param textName what a message calls the text
   * @param length tokens of a sample
   */
  public static CalibrationTexts choose(
      Model model, String textName, String text, int count, int length, long seed) {
    if (count < 1) {
      throw new InvalidInputException("samples is %d; expected at least 1".formatted(count));
    }
    int longest = model.config().contextLength();
    if (length < 2 || length > longest) {
      throw new InvalidInputException(
          "the length of samples is %d; expected 2 to %d, the model's context"
              .formatted(length, longest));
    }
    int[] ids = model.tokenizer().encode(text, false);
    int[] prefix = bosPrefix(model.tokenizer(), text);
    int taken = length - prefix.length;
    if (ids.length < taken) {
      throw new InvalidInputException(
          "%s has %d tokens; expected at least %d, a sample's length"
              .formatted(textName, ids.length, taken));
    }
    return new CalibrationTexts(
        IntStream.range(0, count)
            .map(sample -> start(sample, count, ids.length - taken + 1, length, seed))
            .mapToObj(start -> concat(prefix, Arrays.copyOfRange(ids, start, start + taken)))
            .toList());
  }

  /**
   * The whole text, cut into stretches that follow one another.
   *
   * @param length tokens of a stretch; the last one may have fewer
   */
  public static CalibrationTexts cut(Model model, String text, int length) {
    int[] ids = model.tokenizer().encode(text, false);
    int[] prefix = bosPrefix(model.tokenizer(), text);
    int taken = length - prefix.length;
    return new CalibrationTexts(
        IntStream.iterate(0, start -> start < ids.length, start -> start + taken)
            .mapToObj(start -> Arrays.copyOfRange(ids, start, Math.min(start + taken, ids.length)))
            .map(stretch -> concat(prefix, stretch))
            .toList());
  }

  /** What the model's files put before a text: its BOS token or nothing. */
  private static int[] bosPrefix(Tokenizer tokenizer, String text) {
    int[] begun = tokenizer.encode(text.substring(0, Math.min(text.length(), 100)));
    boolean opens =
        begun.length > 0 && tokenizer.bos().isPresent() && begun[0] == tokenizer.bos().getAsInt();
    return opens ? new int[] {begun[0]} : new int[0];
  }

  private static int start(int sample, int count, int places, int length, long seed) {
    RandomGenerator random = Seeds.of(seed, "calibration", length, sample);
    return (int) ((sample + random.nextDouble()) / count * places);
  }

  private static int[] concat(int[] prefix, int[] rest) {
    int[] ids = Arrays.copyOf(prefix, prefix.length + rest.length);
    System.arraycopy(rest, 0, ids, prefix.length, rest.length);
    return ids;
  }
}
