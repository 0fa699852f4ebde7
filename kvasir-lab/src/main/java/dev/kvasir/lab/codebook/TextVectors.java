package dev.kvasir.lab.codebook;

import dev.kvasir.Model;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.calibrate.CalibrationTexts;
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
  private static final int MOST_HELD_OUT_TOKENS = 8192;

  /**
   * How much is taken of a text.
   *
   * @param tokens to train on at the most; of a longer text, any is as likely as any other
   * @param length tokens of a stretch
   */
  public record Settings(int tokens, int length, long seed) {}

  /**
   * @param textName what a message calls the text
   * @param listener told of tokens; where it asks to stop, there is no result
   */
  public static Optional<TextVectors> read(
      Model model, String textName, String text, Settings settings, WorkListener listener) {
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
    return read(
        model,
        joined(training, Integer.MAX_VALUE),
        joined(heldOut, Math.max(length, MOST_HELD_OUT_TOKENS / length * length)),
        settings,
        listener);
  }

  private static int[] joined(List<int[]> stretches, int most) {
    return stretches.stream().flatMapToInt(Arrays::stream).limit(most).toArray();
  }

  private static Optional<TextVectors> read(
      Model model, int[] training, int[] heldOut, Settings settings, WorkListener listener) {
    CacheShape shape = model.config().cacheShape();
    int capacity = Math.min(settings.tokens(), training.length);
    VectorSample learned = new VectorSample(shape, capacity, settings.seed());
    VectorSample tested = new VectorSample(shape, heldOut.length, settings.seed());
    SampleReader reader = new SampleReader(model);
    int inAll = heldOut.length + training.length;
    reader.read(heldOut, settings.length(), tested, part(listener, 0, inAll));
    reader.read(training, settings.length(), learned, part(listener, heldOut.length, inAll));
    return listener.stopped()
        ? Optional.empty()
        : Optional.of(new TextVectors(learned, tested, settings.length()));
  }

  private static WorkListener part(WorkListener whole, int before, int inAll) {
    return new WorkListener() {
      @Override
      public void progress(double done, double ofPart) {
        whole.progress(before + done, inAll);
      }

      @Override
      public boolean stopped() {
        return whole.stopped();
      }
    };
  }
}
