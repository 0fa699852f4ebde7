package dev.kvasir.sampling;

import java.util.BitSet;
import java.util.OptionalInt;
import java.util.SplittableRandom;

/**
 * Picks tokens from logits. Keeps the random sequence, the tokens seen and the place in a
 * constraint, so one sampler belongs to one generation. Nothing is allocated after the first pick,
 * but for likelihoods that are asked for.
 */
public final class Sampler {
  /**
   * Tokens this many temperatures below the likeliest have less than 1e-13 of its probability: they
   * are left out of sorting.
   */
  private static final double NEGLIGIBLE_RANGE = 30;

  private final SamplingOptions options;
  private final SplittableRandom random;
  private final BitSet seen = new BitSet();
  private final PresenceFrequencyPenalty occurrencePenalty;
  private final LogitBias bias;
  private final TokenConstraint constraint;
  private final LogprobRecorder logprobs; // null where none are wanted
  private final CandidateRadixSort order = new CandidateRadixSort();
  private long[] candidates = {}; // likelihood, order-preserving, in the upper half; id below
  private double[] probabilities = {};
  private int count;

  public Sampler(SamplingOptions options) {
    this(options, TokenConstraint.NONE);
  }

  public Sampler(SamplingOptions options, TokenConstraint constraint) {
    this(options, constraint, OptionalInt.empty());
  }

  /**
   * @param topLikelihoods where present, each pick's likelihood is told, and as many of the
   *     likeliest tokens with it; 0 to {@value TokenLogprob#MOST_ALTERNATIVES}
   */
  public Sampler(SamplingOptions options, TokenConstraint constraint, OptionalInt topLogprobs) {
    this.options = options;
    this.random = new SplittableRandom(options.seed());
    this.occurrencePenalty =
        new PresenceFrequencyPenalty(options.presencePenalty(), options.frequencyPenalty());
    this.bias = new LogitBias(options.logitBias());
    this.constraint = constraint;
    this.logprobs = topLogprobs.isPresent() ? new LogprobRecorder(topLogprobs.getAsInt()) : null;
  }

  /** Notes a token of the prompt, for the repetition penalty. */
  public void markSeen(int token) {
    seen.set(token);
  }

  /** Picks a token from {@code vocabulary} logits and notes it. The logits may be changed. */
  public int sample(float[] logits, int at, int vocabulary) {
    if (logprobs != null) {
      logprobs.capture(logits, at, vocabulary);
    }
    adjustLogits(logits, at, vocabulary);
    int best = argmax(logits, at, vocabulary);
    int token = options.temperature() == 0 ? best : draw(logits, at, vocabulary, logits[at + best]);
    accept(token);
    if (logprobs != null) {
      logprobs.update(token);
    }
    return token;
  }

  private void accept(int token) {
    markSeen(token);
    occurrencePenalty.count(token);
    constraint.accept(token);
  }

  /** Whether it picks the likeliest token as it comes, and needs no other logits. */
  public boolean isGreedy() {
    return options.temperature() == 0
        && options.repetitionPenalty() == 1
        && options.presencePenalty() == 0
        && options.frequencyPenalty() == 0
        && options.logitBias().isEmpty()
        && constraint == TokenConstraint.NONE
        && logprobs == null;
  }

  /** Picks the likeliest token, which somebody else has found, and notes it. */
  public int sampleGreedy(int token) {
    accept(token);
    return token;
  }

  /** Whether it was asked for {@link #likelihood}. */
  public boolean recordsLogprobs() {
    return logprobs != null;
  }

  /** Of the last pick, in the model's own distribution; only of a sampler that was asked for it. */
  public TokenLogprob lastLogprob() {
    if (logprobs == null) {
      throw new IllegalStateException("this sampler was not asked for likelihoods");
    }
    return logprobs.last();
  }

  private void adjustLogits(float[] logits, int at, int vocabulary) {
    penalize(logits, at, vocabulary);
    occurrencePenalty.apply(logits, at, vocabulary);
    bias.apply(logits, at, vocabulary);
    if (constraint != TokenConstraint.NONE) {
      argmax(logits, at, vocabulary); // what is no number is refused, not masked
      constraint.mask(logits, at, vocabulary);
    }
  }

  /** A positive logit is divided, a negative one multiplied: both make the token less likely. */
  private void penalize(float[] logits, int at, int vocabulary) {
    float penalty = (float) options.repetitionPenalty();
    if (penalty == 1) {
      return;
    }
    for (int t = seen.nextSetBit(0); t >= 0 && t < vocabulary; t = seen.nextSetBit(t + 1)) {
      float logit = logits[at + t];
      logits[at + t] = logit > 0 ? logit / penalty : logit * penalty;
    }
  }

  private static int argmax(float[] logits, int at, int vocabulary) {
    int best = -1;
    float maxLogit = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < vocabulary; i++) {
      float logit = logits[at + i];
      if (!(logit <= maxLogit)) { // also where it is no number
        if (!Float.isFinite(logit)) {
          throw new IllegalStateException(
              "the model gave token %d a logit of %s: its weights are damaged".formatted(i, logit));
        }
        maxLogit = logit;
        best = i;
      }
    }
    if (best < 0) {
      throw new IllegalStateException("the model gave no finite logit: its weights are damaged");
    }
    return best;
  }

  private int draw(float[] logits, int at, int vocabulary, float maxLogit) {
    collectCandidates(logits, at, vocabulary, logitThreshold(maxLogit));
    if (options.topK() > 0) {
      count = Math.min(count, options.topK());
    }
    double total = 0;
    for (int i = 0; i < count; i++) {
      double below = (logit(candidates[i]) - maxLogit) / options.temperature();
      probabilities[i] = Math.exp(below); // of the likeliest: 1
      total += probabilities[i];
    }
    return drawWithin(total * options.topP());
  }

  /** The least logit that can be picked. */
  private float logitThreshold(float maxLogit) {
    double range = NEGLIGIBLE_RANGE;
    // What min-p drops still counts for top-p, which comes before it.
    if (options.minP() > 0 && options.topP() == 1) {
      range = Math.min(range, -Math.log(options.minP()));
    }
    return Math.nextDown((float) (maxLogit - range * options.temperature()));
  }

  /** Candidates above the threshold, the likeliest first, equal ones by id as they are gathered. */
  private void collectCandidates(float[] logits, int at, int vocabulary, float threshold) {
    if (candidates.length < vocabulary) {
      candidates = new long[vocabulary];
      probabilities = new double[vocabulary];
    }
    count = 0;
    for (int i = 0; i < vocabulary; i++) {
      float logit = logits[at + i];
      if (logit >= threshold) {
        candidates[count++] = key(logit, i);
      }
    }
    order.sort(candidates, count);
  }

  /** Draws among the candidates that come first within {@code mass} and pass min-p. */
  private int drawWithin(double mass) {
    double kept = 0;
    int end = 0;
    while (end < count && kept < mass && probabilities[end] >= options.minP()) {
      kept += probabilities[end++];
    }
    double dart = random.nextDouble() * kept;
    int i = 0;
    while (i < end - 1 && dart >= probabilities[i]) {
      dart -= probabilities[i++];
    }
    return (int) candidates[i];
  }

  /** Sorts ascending as: higher logit first, then lower id. */
  private static long key(float logit, int id) {
    int bits = Float.floatToRawIntBits(logit + 0f); // -0 and 0 are one
    int ascending = bits ^ (bits >> 31 & Integer.MAX_VALUE);
    return (long) ~ascending << 32 | id;
  }

  private static float logit(long key) {
    int ascending = ~(int) (key >> 32);
    return Float.intBitsToFloat(ascending ^ (ascending >> 31 & Integer.MAX_VALUE));
  }
}
