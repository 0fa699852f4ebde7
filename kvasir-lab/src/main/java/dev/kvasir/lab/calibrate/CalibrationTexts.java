package dev.kvasir.lab.calibrate;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.task.Seeds;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.text.Tokenizer;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/**
 * Samples of a long text with equal lengths, as token ids.
 *
 * @param samples samples that start with the BOS token if the model has one
 */
public record CalibrationTexts(List<int[]> samples) {
  /**
   * Default number of samples. The paper uses 512; eight take a few minutes with the bundled model
   * on two cores.
   */
  public static final int COUNT = 8;

  /** Default tokens of a sample, as in the paper. */
  public static final int LENGTH = 2048;

  /**
   * Draws samples: the text is split into as many parts as samples, and each sample starts at a
   * random position of its part. Samples overlap only where the text is short.
   *
   * @param textName name of the text in messages
   * @param length tokens of a sample
   */
  public static CalibrationTexts choose(
      LoadedModel model, String textName, String text, int count, int length, long seed) {
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
    int textTokens = length - prefix.length;
    if (ids.length < textTokens) {
      throw new InvalidInputException(
          "%s has %d tokens; expected at least %d, a sample's length"
              .formatted(textName, ids.length, textTokens));
    }
    return new CalibrationTexts(
        IntStream.range(0, count)
            .map(sample -> start(sample, count, ids.length - textTokens + 1, length, seed))
            .mapToObj(start -> concat(prefix, Arrays.copyOfRange(ids, start, start + textTokens)))
            .toList());
  }

  /**
   * Splits the whole text into consecutive segments.
   *
   * @param length tokens of a segment; the last one may be shorter
   */
  public static CalibrationTexts cut(LoadedModel model, String text, int length) {
    int[] ids = model.tokenizer().encode(text, false);
    int[] prefix = bosPrefix(model.tokenizer(), text);
    int textTokens = length - prefix.length;
    return new CalibrationTexts(
        IntStream.iterate(0, start -> start < ids.length, start -> start + textTokens)
            .mapToObj(
                start -> Arrays.copyOfRange(ids, start, Math.min(start + textTokens, ids.length)))
            .map(segment -> concat(prefix, segment))
            .toList());
  }

  /** Returns the BOS token that the tokenizer adds, or nothing. */
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
