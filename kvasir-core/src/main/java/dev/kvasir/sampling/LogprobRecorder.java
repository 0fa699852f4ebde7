package dev.kvasir.sampling;

import dev.kvasir.TokenLogprob;
import dev.kvasir.TokenLogprob.Alternative;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Captures the unmodified logits of a step, and computes the logprob of the sampled token. */
final class LogprobRecorder {
  private final int top;
  private final int[] best; // (top), most likely first
  private float[] logits = {};
  private int vocabulary;
  private TokenLogprob last;

  LogprobRecorder(int top) {
    if (top < 0 || top > TokenLogprob.MAX_ALTERNATIVES) {
      throw new IllegalArgumentException(
          "top logprobs are %d; expected 0 to %d".formatted(top, TokenLogprob.MAX_ALTERNATIVES));
    }
    this.top = top;
    this.best = new int[top];
  }

  void capture(float[] source, int at, int count) {
    if (logits.length < count) {
      logits = new float[count];
    }
    System.arraycopy(source, at, logits, 0, count);
    vocabulary = count;
  }

  void update(int token) {
    double total = logSumExp();
    int found = selectTop();
    List<Alternative> alternatives = new ArrayList<>(found);
    for (int i = 0; i < found; i++) {
      alternatives.add(new Alternative(best[i], logits[best[i]] - total));
    }
    last = new TokenLogprob(token, logits[token] - total, alternatives);
  }

  TokenLogprob last() {
    if (last == null) {
      throw new IllegalStateException("no token was picked yet");
    }
    return last;
  }

  private double logSumExp() {
    float max = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < vocabulary; i++) {
      max = Math.max(max, logits[i]);
    }
    double total = 0;
    for (int i = 0; i < vocabulary; i++) {
      total += Math.exp(logits[i] - max);
    }
    return max + Math.log(total);
  }

  /** Selects the most likely tokens by insertion; returns their count. */
  private int selectTop() {
    int found = 0;
    Arrays.fill(best, -1);
    for (int token = 0; token < vocabulary; token++) {
      if (found == top && (top == 0 || !(logits[token] > logits[best[top - 1]]))) {
        continue;
      }
      int position = found < top ? found++ : top - 1;
      while (position > 0 && logits[best[position - 1]] < logits[token]) {
        best[position] = best[position - 1];
        position--;
      }
      best[position] = token;
    }
    return found;
  }
}
