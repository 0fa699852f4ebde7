package dev.kvasir.lab.codebook;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Keys and values of a text for training, and of held-out segments for testing. Every eighth
 * segment is held out, so that a mixed text is tested on all its kinds.
 *
 * @param heldOut tokens in the order of the text
 * @param length tokens of a segment; positions of the held-out tokens restart after each
 */
public record TextVectors(VectorSample training, VectorSample heldOut, int length) {
  /** Held-out segments are the second of every eight. */
  private static final int PERIOD = 8;

  /** More than four segments of the usual length do not change results. */
  private static final int MAX_HELD_OUT_TOKENS = 8192;

  /**
   * How much of a text is used.
   *
   * @param tokens maximum number of training tokens, drawn uniformly from a longer text
   * @param length tokens of a segment
   */
  public record Settings(int tokens, int length, long seed) {}

  /** Reads in this process, into memory. */
  public static Optional<TextVectors> read(
      LoadedModel model,
      String textName,
      String text,
      Settings settings,
      ProgressListener listener) {
    Runner here = new LocalRunner(WorkerContext.of(model));
    return read(model, textName, text, settings, here, SampleStorage.MEMORY, listener);
  }

  /**
   * @param textName name of the text in messages
   * @param listener receives the number of tokens; cancelling leaves no result
   */
  public static Optional<TextVectors> read(
      LoadedModel model,
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
          "%s: is shorter than two segments of %d tokens, of which one is held out"
              .formatted(textName, length));
    }
    List<int[]> training = new ArrayList<>();
    List<int[]> heldOut = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      (i % PERIOD == 1 ? heldOut : training).add(all.get(i));
    }
    int maxHeldOut = maxHeldOut(length);
    SamplePlan tested =
        SamplePlan.of(
            "text held out", joined(heldOut, maxHeldOut), length, maxHeldOut, settings.seed());
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

  /**
   * Returns the first segments that are not held out.
   *
   * @param all segments of a text
   * @param tokens maximum tokens of the result, but at least one segment
   */
  public static List<int[]> trainingSegments(List<int[]> all, int tokens) {
    List<int[]> training = new ArrayList<>();
    int most = Math.max(1, tokens / all.getFirst().length);
    for (int i = 0; i < all.size() && training.size() < most; i++) {
      if (i % PERIOD != 1) {
        training.add(all.get(i));
      }
    }
    return training;
  }

  private static int maxHeldOut(int length) {
    return Math.max(length, MAX_HELD_OUT_TOKENS / length * length);
  }

  /**
   * Returns the number of held-out tokens of a text.
   *
   * @param length tokens of a segment
   */
  public static int heldOut(int tokens, int length) {
    int segments = Math.ceilDiv(tokens, length);
    return Math.min(maxHeldOut(length), Math.ceilDiv(segments - 1, PERIOD) * length);
  }

  private static int[] joined(List<int[]> segments, int most) {
    return segments.stream().flatMapToInt(Arrays::stream).limit(most).toArray();
  }
}
