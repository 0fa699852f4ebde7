import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.runtime.LoadedModel;

/**
 * How far Kvasir's distributions lie from those of llama.cpp.
 *
 * @param mean mean KL divergence in nats
 * @param sameTop share of positions with the same likeliest token
 */
record Divergence(double mean, double sameTop, double perplexity, double theirPerplexity) {
  static Divergence of(LoadedModel model, LlamaLogits theirs) {
    Sums sums = new Sums();
    for (int chunk = 0; chunk < theirs.chunks(); chunk++) {
      compare(model, theirs, chunk, sums);
    }
    return new Divergence(
        sums.divergence / sums.count,
        (double) sums.sameTop / sums.count,
        Math.exp(sums.loss / sums.count),
        Math.exp(sums.theirLoss / sums.count));
  }

  private static void compare(LoadedModel model, LlamaLogits theirs, int chunk, Sums sums) {
    int[] tokens = theirs.tokens(chunk, addsFirst(model));
    int first = theirs.firstScored();
    Batch batch = new Batch();
    try (KvCache cache = model.newCache(CacheSpec.parse("fp16"), model.contextLength())) {
      for (int t = 0; t < tokens.length - 1; t++) {
        batch.add(cache, tokens[t], t >= first);
      }
      model.forward(batch);
      for (int t = first; t < tokens.length - 1; t++) {
        float[] expected = theirs.logProbabilities(chunk, t);
        sums.add(batch.logits(), batch.logitsAt(t - first), expected, tokens[t + 1]);
      }
    }
  }

  private static boolean addsFirst(LoadedModel model) {
    return model.tokenizer().encode("", true).length > 0;
  }

  private static final class Sums {
    private double divergence;
    private double loss;
    private double theirLoss;
    private int sameTop;
    private int count;

    void add(float[] logits, int at, float[] expected, int next) {
      int top = 0;
      int theirTop = 0;
      for (int i = 1; i < expected.length; i++) {
        top = logits[at + i] > logits[at + top] ? i : top;
        theirTop = expected[i] > expected[theirTop] ? i : theirTop;
      }
      double sum = 0;
      for (int i = 0; i < expected.length; i++) {
        sum += Math.exp(logits[at + i] - logits[at + top]);
      }
      double normalizer = logits[at + top] + Math.log(sum);
      for (int i = 0; i < expected.length; i++) {
        if (expected[i] <= LlamaLogits.CUT_OFF) {
          continue; // the file has no smaller probabilities, and there are very many
        }
        divergence += Math.exp(expected[i]) * (expected[i] - (logits[at + i] - normalizer));
      }
      loss += normalizer - logits[at + next];
      theirLoss -= expected[next];
      sameTop += top == theirTop ? 1 : 0;
      count++;
    }
  }
}
