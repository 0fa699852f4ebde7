package dev.kvasir.lab.codebook;

import dev.kvasir.Model;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.WorkerContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Keys and values of a text: some to train on, and some of other stretches, to see what the
 * training is worth. Every eighth stretch is held out, so that a text of many kinds is tried on all
 * of them.
 *
 * @param heldOut tokens in the order of the text
 * @param length tokens of a stretch: positions of the held-out tokens begin anew after as many
 */
public record TextVectors(VectorSample training, VectorSample heldOut, int length) {
  /** Which stretches are held out: the second of eight. */
  private static final int PERIOD = 8;

  /** More than four stretches of the usual length change no figure. */
  private static final int MAX_HELD_OUT_TOKENS = 8192;

  /**
   * How much is taken of a text.
   *
   * @param tokens to train on at the most; of a longer text, any is as likely as any other
   * @param length tokens of a stretch
   */
  public record Settings(int tokens, int length, long seed) {}

  /** Reads in this process, into memory. */
  public static Optional<TextVectors> read(
      Model model, String textName, String text, Settings settings, ProgressListener listener) {
    Runner here = new LocalRunner(WorkerContext.of(model));
    return read(model, textName, text, settings, here, SampleStorage.MEMORY, listener);
  }

  /**
   * @param textName what a message calls the text
   * @param listener told of tokens; where it asks to stop, there is no result
   */
  public static Optional<TextVectors> read(
      Model model,
      String textName,
      String text,
      Settings settings,
      Runner runner,
      SampleStorage storage,
      ProgressListener listener) {
    int length = settings.length();
    int longest = model.config().contextLength();
    if (length > longest) {
      throw new InvalidInputException(
          "--length is %d; expected up to %d, the model's context".formatted(length, longest));
    }
    List<int[]> all = CalibrationTexts.cut(model, text, length).samples();
    if (all.size() < 2 || all.get(1).length < length) {
      throw new InvalidInputException(
          "%s: is shorter than two stretches of %d tokens, of which one is held out"
              .formatted(textName, length));
    }
    List<int[]> training = new ArrayList<>();
    List<int[]> heldOut = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      (i % PERIOD == 1 ? heldOut : training).add(all.get(i));
    }
    int mostHeldOut = maxHeldOut(length);
    SamplePlan tested =
        SamplePlan.of(
            "text held out", joined(heldOut, mostHeldOut), length, mostHeldOut, settings.seed());
    SamplePlan learned =
        SamplePlan.of(
            "text to train on",
            joined(training, Integer.MAX_VALUE),
            length,
            settings.tokens(),
            settings.seed());
    CacheShape shape = model.config().cacheShape();
    ResumableSample test = ResumableSample.at(storage, "held-out", shape, tested);
    ResumableSample train = ResumableSample.at(storage, "training", shape, learned);
    return ResumableSample.readMissing(List.of(test, train), runner, listener)
        ? Optional.of(new TextVectors(train.sample(), test.sample(), length))
        : Optional.empty();
  }

  private static int maxHeldOut(int length) {
    return Math.max(length, MAX_HELD_OUT_TOKENS / length * length);
  }

  /**
   * Tokens of a text that are held out.
   *
   * @param length tokens of a stretch
   */
  public static int heldOut(int tokens, int length) {
    int segments = Math.ceilDiv(tokens, length);
    return Math.min(maxHeldOut(length), Math.ceilDiv(segments - 1, PERIOD) * length);
  }

  private static int[] joined(List<int[]> segments, int most) {
    return segments.stream().flatMapToInt(Arrays::stream).limit(most).toArray();
  }
}
