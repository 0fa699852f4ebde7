package dev.kvasir.lab.mead;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.mead.MeadCheck;
import dev.kvasir.engine.Batch;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Tests a profile on questions of kinds that calibration never saw, and on prose. Texts are read,
 * not generated: an answer counts as right if every token of it is the most likely one after the
 * right tokens before it.
 */
public final class ProfileCheck {
  private static final int CHUNK = 256;

  /** Every so many positions of prose are compared; their logits take much memory otherwise. */
  private static final int PROSE_STRIDE = 4;

  private final LoadedModel model;
  private final Profile profile;
  private final List<MarkedText> texts = new ArrayList<>();

  /**
   * @param prose a text that the profile was not fitted to
   * @param length tokens of each text
   * @param documents number of texts with questions
   */
  public ProfileCheck(
      LoadedModel model, Profile profile, int[] prose, int length, int documents, long seed) {
    this.model = model;
    this.profile = profile;
    if (prose.length > 0) {
      texts.add(MarkedText.prose(Arrays.copyOf(prose, Math.min(prose.length, length))));
    }
    HeldOutTexts questions = new HeldOutTexts(model.tokenizer(), length, seed);
    IntStream.range(0, documents).forEach(i -> texts.add(questions.text(i)));
  }

  /** Returns a result for each number of bits; empty if the listener cancelled the run. */
  public Optional<List<MeadCheck.Result>> run(List<Double> bits, ProgressListener listener) {
    List<CacheSpec> caches = bits.stream().map(some -> CacheSpec.parse("mead:" + some)).toList();
    int total = texts.size() * (caches.size() + 1);
    int done = 0;
    int rightOfFp16 = 0;
    int[] right = new int[caches.size()];
    double[] same = new double[caches.size()];
    for (MarkedText text : texts) {
      int[] expected = predictions(CacheSpec.DEFAULT, text, listener);
      listener.progress(++done, total);
      for (int i = 0; i < caches.size() && !listener.isCancelled(); i++) {
        int[] found = predictions(caches.get(i), text, listener);
        listener.progress(++done, total);
        if (text.hasAnswers()) {
          right[i] += answers(text, expected, found);
        } else {
          same[i] = same(expected, found);
        }
      }
      rightOfFp16 += text.hasAnswers() ? answers(text, expected, expected) : 0;
    }
    int reference = rightOfFp16;
    return listener.isCancelled()
        ? Optional.empty()
        : Optional.of(
            IntStream.range(0, caches.size())
                .mapToObj(i -> new MeadCheck.Result(bits.get(i), reference, right[i], same[i]))
                .toList());
  }

  /** Returns the predicted token at each position; -1 where nothing is compared. */
  private int[] predictions(CacheSpec spec, MarkedText text, ProgressListener listener) {
    int[] ids = text.tokens();
    int[] predicted = new int[ids.length];
    Arrays.fill(predicted, -1);
    Batch batch = new Batch();
    try (KvCache cache = model.newCache(spec, Optional.of(profile), ids.length)) {
      for (int from = 0; from < ids.length && !listener.isCancelled(); from += CHUNK) {
        int to = Math.min(from + CHUNK, ids.length);
        batch.clear();
        List<Integer> compared = new ArrayList<>();
        for (int i = from; i < to; i++) {
          boolean isCompared = i + 1 < ids.length && isCompared(text, i + 1);
          batch.add(cache, ids[i], isCompared);
          if (isCompared) {
            compared.add(i + 1);
          }
        }
        model.forward(batch);
        for (int k = 0; k < compared.size(); k++) {
          predicted[compared.get(k)] = mostLikely(batch, k);
        }
      }
    }
    return predicted;
  }

  private static boolean isCompared(MarkedText text, int position) {
    return text.hasAnswers() ? text.answers()[position] : position % PROSE_STRIDE == 0;
  }

  private static int mostLikely(Batch batch, int index) {
    int at = batch.logitsAt(index);
    int best = 0;
    for (int id = 1; id < batch.vocabulary(); id++) {
      if (batch.logits()[at + id] > batch.logits()[at + best]) {
        best = id;
      }
    }
    return best;
  }

  /** Counts the answers that both predictions get right. */
  private static int answers(MarkedText text, int[] expected, int[] found) {
    int count = 0;
    int at = 0;
    int[] ids = text.tokens();
    while (at < ids.length) {
      boolean right = text.answers()[at];
      int end = at;
      while (end < ids.length && text.answers()[end]) {
        right &= ids[end] == expected[end] && ids[end] == found[end];
        end++;
      }
      // An answer at the end may be cut.
      count += right && end < ids.length ? 1 : 0;
      at = Math.max(end, at + 1);
    }
    return count;
  }

  private static double same(int[] expected, int[] found) {
    int same = 0;
    int all = 0;
    for (int i = 0; i < expected.length; i++) {
      if (expected[i] >= 0) {
        all++;
        same += expected[i] == found[i] ? 1 : 0;
      }
    }
    return all == 0 ? 1 : (double) same / all;
  }
}
