package dev.kvasir.runtime;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.AcceptanceRates;
import dev.kvasir.engine.Batch;
import dev.kvasir.engine.DraftCosts;
import dev.kvasir.engine.Drafter;
import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;

/**
 * Proposes the most likely tokens of a smaller model. It reads the text only when it drafts, so
 * tokens that were not drafted cost nothing until then.
 *
 * <p>Drafts that are rejected cost the time of the smaller model. While its tokens are not worth
 * their time, it drafts one token at growing intervals to notice a change.
 */
final class ModelDrafter implements Drafter {
  /** Rows of a step that reads the text. */
  private static final int PREFILL_ROWS = 256;

  /** Probabilities of the most likely token that separate classes of certainty. */
  private static final double[] CERTAINTIES = {0.3, 0.5, 0.7, 0.9, 0.98};

  private static final double[] USUAL_RATES = {0.2, 0.4, 0.55, 0.7, 0.85, 0.95};

  /** A token below this chance ends a draft: it is seldom worth the time of the next one. */
  private static final double MIN_CHANCE = 0.3;

  private static final double USUAL_RATE = 0.7;
  private static final double TIME_GAIN = 0.1;
  private static final int MIN_PAUSE = 16;
  private static final int MAX_PAUSE = 1024;

  private final LoadedModel model;
  private final int contextLimit;
  private final int vocabulary; // of the model that verifies
  private final Batch batch = new Batch();
  private final AcceptanceRates rates = new AcceptanceRates(USUAL_RATES);
  private final AcceptanceRates overall = new AcceptanceRates(USUAL_RATE);
  private final double[] chances = new double[MAX_TOKENS];
  private KvCache cache; // null until the first draft

  private int[] text = new int[256];
  private int length;
  private int[] cached = new int[256]; // tokens of the cache

  private final int[] drafted = new int[MAX_TOKENS];
  private final int[] kinds = new int[MAX_TOKENS];
  private int draftedCount;
  private int checked; // drafted tokens that the text has confirmed

  private double draftNanos; // time of a token; 0 until it is known
  private int pause = MIN_PAUSE; // tokens between two trials
  private int nextTrial; // length of the text

  /**
   * @param contextLimit maximum tokens that the model can read
   * @param vocabulary tokens that may be proposed
   */
  ModelDrafter(LoadedModel model, int contextLimit, int vocabulary) {
    this.model = model;
    this.contextLimit = contextLimit;
    this.vocabulary = vocabulary;
  }

  @Override
  public void begin(int[] given, int count) {
    text = Arrays.copyOf(given, Math.max(256, count));
    length = count;
    draftedCount = 0;
    nextTrial = count;
  }

  @Override
  public void append(int token) {
    if (length == text.length) {
      text = Arrays.copyOf(text, 2 * length);
    }
    text[length++] = token;
    if (checked < draftedCount) {
      boolean right = drafted[checked] == token;
      rates.record(kinds[checked], right);
      overall.record(0, right);
      checked = right ? checked + 1 : draftedCount;
      pause = right ? MIN_PAUSE : pause;
    }
  }

  @Override
  public int draft(DraftCosts costs, int max, int[] out) {
    int planned = planned(costs, Math.min(max, contextLimit - length));
    if (planned == 0) {
      return 0;
    }
    try {
      return draftTokens(costs, planned, out);
    } catch (InvalidInputException e) {
      // Its memory is full, or its keys are not finite. The text goes on without drafts.
      draftedCount = 0;
      nextTrial = Integer.MAX_VALUE;
      return 0;
    }
  }

  /** Returns how many tokens are worth drafting if they are accepted as often as before. */
  private int planned(DraftCosts costs, int max) {
    if (nextTrial == Integer.MAX_VALUE || max <= 0) {
      return 0;
    }
    double chance = 1;
    for (int i = 0; i < max; i++) {
      chance *= overall.rate(0);
      chances[i] = chance;
    }
    int planned = costs.choose(chances, max, draftNanos);
    if (planned > 0) {
      return planned;
    }
    if (length < nextTrial) {
      return 0;
    }
    pause = Math.min(MAX_PAUSE, 2 * pause);
    nextTrial = length + pause;
    return 1;
  }

  private int draftTokens(DraftCosts costs, int planned, int[] out) {
    readText();
    long begin = System.nanoTime();
    double chance = 1;
    int count = 0;
    while (count < planned && chance >= MIN_CHANCE) {
      step(cache.length(), length + count);
      int token = likeliest();
      if (token >= vocabulary) {
        break;
      }
      kinds[count] = kind(token);
      chance *= rates.rate(kinds[count]);
      chances[count] = chance;
      drafted[count] = token;
      out[count] = token;
      count++;
      remember(length + count - 1, token);
    }
    if (count > 0) {
      double each = (System.nanoTime() - begin) / (double) count;
      draftNanos += (draftNanos == 0 ? 1 : TIME_GAIN) * (each - draftNanos);
    }
    draftedCount = count;
    checked = 0;
    return costs.choose(chances, count, 0); // what was drafted is paid for
  }

  /** Brings the cache to the text before its last token. */
  private void readText() {
    if (cache == null) {
      cache = model.newCache(CacheSpec.DEFAULT, contextLimit);
    }
    int same = Arrays.mismatch(text, 0, length - 1, cached, 0, cache.length());
    if (same >= 0 && same < cache.length()) {
      cache.truncate(same);
    }
    for (int i = cache.length(); i < length; i++) {
      remember(i, text[i]);
    }
    while (cache.length() < length - 1) {
      int begin = cache.length();
      step(begin, Math.min(begin + PREFILL_ROWS, length - 1));
    }
  }

  private void remember(int position, int token) {
    if (position >= cached.length) {
      cached = Arrays.copyOf(cached, 2 * position);
    }
    cached[position] = token;
  }

  private void step(int from, int to) {
    batch.clear();
    for (int i = from; i < to; i++) {
      batch.add(cache, cached[i], i == to - 1);
    }
    model.forward(batch);
  }

  private int likeliest() {
    float[] logits = batch.logits();
    int best = 0;
    for (int i = 1; i < batch.vocabulary(); i++) {
      best = logits[i] > logits[best] ? i : best;
    }
    return best;
  }

  /** Returns the class of the likeliest token's probability. */
  private int kind(int token) {
    float[] logits = batch.logits();
    double total = 0;
    for (int i = 0; i < batch.vocabulary(); i++) {
      double below = logits[i] - logits[token];
      total += below > -20 ? Math.exp(below) : 0;
    }
    int kind = 0;
    while (kind < CERTAINTIES.length && 1 / total >= CERTAINTIES[kind]) {
      kind++;
    }
    return kind;
  }

  @Override
  public void close() {
    batch.clear();
    if (cache != null) {
      cache.close();
      cache = null;
    }
  }
}
