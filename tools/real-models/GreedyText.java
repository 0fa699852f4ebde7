import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.runtime.LoadedModel;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The greedy text after a prompt.
 *
 * @param same tokens up to the first difference
 * @param lead how far Kvasir prefers its token to that of llama.cpp there, in nats
 * @param theirLead how far llama.cpp prefers its token to that of Kvasir; NaN if that is not among
 *     its likeliest tokens
 */
record GreedyText(int same, int all, double lead, double theirLead) {
  static GreedyText of(LoadedModel model, LlamaServer server, String prompt, int count) {
    List<LlamaServer.Step> theirs = server.greedy(prompt, count);
    try (KvCache cache = model.newCache(CacheSpec.parse("fp16"), model.contextLength())) {
      float[] logits = read(model, cache, model.tokenizer().encode(prompt, true));
      for (int i = 0; i < theirs.size(); i++) {
        int own = likeliest(logits);
        LlamaServer.Step step = theirs.get(i);
        if (own != step.token()) {
          double lead = logits[own] - logits[step.token()];
          return new GreedyText(i, theirs.size(), lead, step.lead(own));
        }
        logits = read(model, cache, own);
      }
      return new GreedyText(theirs.size(), theirs.size(), 0, 0);
    }
  }

  private static float[] read(LoadedModel model, KvCache cache, int... tokens) {
    Batch batch = new Batch();
    for (int t = 0; t < tokens.length; t++) {
      batch.add(cache, tokens[t], t == tokens.length - 1);
    }
    model.forward(batch);
    int at = batch.logitsAt(0);
    return Arrays.copyOfRange(batch.logits(), at, at + batch.vocabulary());
  }

  private static int likeliest(float[] logits) {
    int best = 0;
    for (int i = 1; i < logits.length; i++) {
      best = logits[i] > logits[best] ? i : best;
    }
    return best;
  }

  String length() {
    return same == all ? Integer.toString(all) : same + " of " + all;
  }

  String leads() {
    return same == all ? "–" : String.format(Locale.ROOT, "%.2f/%.2f", lead, theirLead);
  }
}
