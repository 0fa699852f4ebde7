package dev.kvasir.engine;

import dev.kvasir.TokenLogprob;
import dev.kvasir.cache.KvCache;
import dev.kvasir.sampling.Sampler;
import java.util.Set;

/**
 * The speculation of a generation: the draft of its next step, and the tokens that were drawn from
 * the rows of the draft. Each token is drawn by the request's own sampler from the same logits as
 * without speculation; a draft only decides how many can be drawn after one step.
 */
final class Speculation implements DraftCosts {
  private final Drafter drafter; // null for no speculation
  private final int[] draft = new int[Drafter.MAX_TOKENS];
  private int drafted;
  private int followed; // tokens of the text that the drafter knows
  private StepCosts costs;
  private int stepRows; // of the last step
  private int stepTokens;

  private final int[] drawn = new int[Drafter.MAX_TOKENS + 1];
  private final TokenLogprob[] logprobs = new TokenLogprob[Drafter.MAX_TOKENS + 1];
  private int drawnCount;

  private int proposed;
  private int accepted;

  /**
   * @param drafter null for no speculation
   */
  Speculation(Drafter drafter) {
    this.drafter = drafter;
  }

  /** Starts after a text. */
  void begin(int[] text, int length) {
    drafted = 0;
    drawnCount = 0;
    proposed = 0;
    accepted = 0;
    stepRows = 0;
    stepTokens = 0;
    followed = length;
    if (drafter != null) {
      drafter.begin(text, length);
    }
  }

  boolean isOn() {
    return drafter != null;
  }

  /**
   * Drafts what may follow a text.
   *
   * @param max maximum tokens; may be 0 or less
   */
  void prepare(int[] text, int length, int max, StepCosts stepCosts) {
    drafted = 0;
    for (; followed < length; followed++) {
      drafter.append(text[followed]);
    }
    if (max > 0) {
      costs = stepCosts;
      drafted = drafter.draft(this, Math.min(max, Drafter.MAX_TOKENS), draft);
    }
  }

  @Override
  public int choose(double[] chances, int count, double draftNanos) {
    return costs.choose(stepRows, stepTokens, chances, count, draftNanos);
  }

  /** Limits the draft of the next step. */
  void limit(int max) {
    drafted = Math.min(drafted, Math.max(0, max));
  }

  void dropDraft() {
    drafted = 0;
  }

  /** Returns the number of tokens of the next or the current step's draft. */
  int drafted() {
    return drafted;
  }

  /**
   * Adds the last token of a text and its draft to a batch.
   *
   * @return the index of the first row's logits
   */
  int addTo(Batch batch, KvCache cache, int lastToken, boolean isGreedy) {
    batch.beginDraft(cache);
    int first = add(batch, cache, lastToken, isGreedy);
    for (int i = 0; i < drafted; i++) {
      add(batch, cache, draft[i], isGreedy);
    }
    return first;
  }

  private static int add(Batch batch, KvCache cache, int token, boolean isGreedy) {
    int index = batch.add(cache, token, true);
    if (isGreedy) {
      batch.requestArgmaxOnly(index);
    }
    return index;
  }

  /**
   * Draws tokens from the rows of a step, while each is the one that the next row was computed for.
   *
   * @param firstIndex index of the first row's logits
   * @return the first token
   */
  int draw(Batch batch, int firstIndex, Sampler sampler, Set<Integer> endOfText) {
    drawnCount = 0;
    proposed += drafted;
    stepRows = 1 + drafted;
    stepTokens = 0;
    drawNext(batch, firstIndex, sampler);
    try {
      while (hasNextRow() && !endOfText.contains(drawn[drawnCount - 1])) {
        drawNext(batch, firstIndex, sampler);
      }
    } catch (RuntimeException e) {
      // The next step computes the row again, and fails after the tokens before it are reported.
    }
    return drawn[0];
  }

  private void drawNext(Batch batch, int firstIndex, Sampler sampler) {
    int index = firstIndex + drawnCount;
    int likeliest = batch.argmax(index);
    drawn[drawnCount] =
        likeliest >= 0
            ? sampler.sampleGreedy(likeliest)
            : sampler.sample(batch.logits(), batch.logitsAt(index), batch.vocabulary());
    logprobs[drawnCount] = sampler.recordsLogprobs() ? sampler.lastLogprob() : null;
    drawnCount++;
    stepTokens++;
  }

  /** Returns whether the row after the last drawn token is one of the current step. */
  private boolean hasNextRow() {
    return drawnCount <= drafted && drawn[drawnCount - 1] == draft[drawnCount - 1];
  }

  int drawnCount() {
    return drawnCount;
  }

  int drawnToken(int index) {
    return drawn[index];
  }

  /** Returns the logprob of a drawn token; null if none was recorded. */
  TokenLogprob logprob(int index) {
    return logprobs[index];
  }

  /** Counts a token of a draft that has become a part of the text. */
  void countAccepted() {
    accepted++;
  }

  int proposed() {
    return proposed;
  }

  int accepted() {
    return accepted;
  }
}
