package dev.kvasir.model;

import dev.kvasir.cache.KvCache;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * Sequences that decode alone or in the same steps: what each of them sees must not depend on it.
 */
final class SequencesOfAStep {
  private final Consumer<Batch> forward;

  /**
   * @param forward runs a step
   */
  SequencesOfAStep(Consumer<Batch> forward) {
    this.forward = forward;
  }

  /** Reads a prompt in steps of its own, of so many tokens at the most. */
  void read(KvCache cache, int[] prompt, int step) {
    for (int from = 0; from < prompt.length; from += step) {
      Batch batch = new Batch();
      for (int token : Arrays.copyOfRange(prompt, from, Math.min(from + step, prompt.length))) {
        batch.add(cache, token, false);
      }
      forward.accept(batch);
    }
  }

  /**
   * The logits of texts that go on token by token, one of each text in every step.
   *
   * @param texts (sequences, tokens), all as long
   * @return (sequences, tokens, vocabulary)
   */
  float[][][] together(List<KvCache> caches, int[][] texts) {
    float[][][] logits = new float[texts.length][texts[0].length][];
    Batch batch = new Batch();
    for (int t = 0; t < texts[0].length; t++) {
      batch.clear();
      for (int s = 0; s < texts.length; s++) {
        batch.add(caches.get(s), texts[s][t], true);
      }
      forward.accept(batch);
      for (int s = 0; s < texts.length; s++) {
        int at = batch.logitsAt(s);
        logits[s][t] = Arrays.copyOfRange(batch.logits(), at, at + batch.vocabulary());
      }
    }
    return logits;
  }

  /** The same, each text in steps of its own. */
  float[][][] alone(List<KvCache> caches, int[][] texts) {
    float[][][] logits = new float[texts.length][][];
    for (int s = 0; s < texts.length; s++) {
      logits[s] = together(caches.subList(s, s + 1), new int[][] {texts[s]})[0];
    }
    return logits;
  }
}
