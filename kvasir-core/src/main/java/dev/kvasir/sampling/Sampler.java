package dev.kvasir.sampling;

import java.util.BitSet;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SplittableRandom;

/**
 * Samples tokens from logits. A sampler holds the random state, the tokens seen and the state of a
 * constraint, so it belongs to one generation. After the first token it allocates only the logprobs
 * that were requested. It is not thread-safe.
 */
public final class Sampler {
  /**
   * Tokens this many temperatures below the most likely one have less than 1e-13 of its
   * probability; they are not candidates.
   */
  private static final double NEGLIGIBLE_RANGE = 30;

  private final SamplingOptions options;
  private final SplittableRandom random;
  private final BitSet seen = new BitSet();
  private final PresenceFrequencyPenalty occurrencePenalty;
  private final LogitBias bias;
  private final TokenConstraint constraint;
  private final LogprobRecorder logprobs; // null if not requested
  private final CandidateRadixSort order = new CandidateRadixSort();
  private long[] candidates = {}; // order-preserving logit in the upper half; id below
  private double[] probabilities = {};
  private int count;

  public Sampler(SamplingOptions options) {
    this(options, TokenConstraint.NONE);
  }

  public Sampler(SamplingOptions options, TokenConstraint constraint) {
    this(options, constraint, OptionalInt.empty());
  }

  /**
   * @param topLogprobs if present, logprobs of each token and of this many alternatives are
   *     recorded; 0 to {@value TokenLogprob#MAX_ALTERNATIVES}
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

  /** Adds a token of the prompt to the repetition penalty. */
  public void markSeen(int token) {
    seen.set(token);
  }

  /** Samples a token from {@code vocabulary} logits and accepts it. The logits may be modified. */
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

  /** Returns whether it always takes the most likely token and modifies no logits. */
  public boolean isGreedy() {
    return options.temperature() == 0
        && options.repetitionPenalty() == 1
        && options.presencePenalty() == 0
        && options.frequencyPenalty() == 0
        && options.logitBias().isEmpty()
        && constraint == TokenConstraint.NONE
        && logprobs == null;
  }

  /** Accepts the most likely token, which the caller has computed. */
  public int sampleGreedy(int token) {
    accept(token);
    return token;
  }

  /** Returns whether {@link #lastLogprob} is recorded. */
  public boolean recordsLogprobs() {
    return logprobs != null;
  }

  /**
   * Returns the logprob of the last token in the model's own distribution.
   *
   * @throws IllegalStateException if logprobs are not recorded
   */
  public TokenLogprob lastLogprob() {
    if (logprobs == null) {
      throw new IllegalStateException("this sampler does not record logprobs");
    }
    return logprobs.last();
  }

  private void adjustLogits(float[] logits, int at, int vocabulary) {
    penalize(logits, at, vocabulary);
    occurrencePenalty.apply(logits, at, vocabulary);
    bias.apply(logits, at, vocabulary);
    if (constraint != TokenConstraint.NONE) {
      argmax(logits, at, vocabulary); // rejects NaN before it is masked
      constraint.mask(logits, at, vocabulary);
    }
  }

  /** Divides a positive logit and multiplies a negative one: both make the token less likely. */
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
      if (!(logit <= maxLogit)) { // also true for NaN
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
      probabilities[i] = Math.exp(below); // 1 for the most likely
      total += probabilities[i];
    }
    return drawWithin(total * options.topP());
  }

  /** Returns the lowest logit of a candidate. */
  private float logitThreshold(float maxLogit) {
    double range = NEGLIGIBLE_RANGE;
    // Tokens below min-p still count towards top-p, which is applied first.
    if (options.minP() > 0 && options.topP() == 1) {
      range = Math.min(range, -Math.log(options.minP()));
    }
    return Math.nextDown((float) (maxLogit - range * options.temperature()));
  }

  /** Collects the candidates above the threshold, most likely first, ties by id. */
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

  /** Draws from the first candidates that make up {@code mass} and pass min-p. */
  private int drawWithin(double mass) {
    double total = 0;
    int end = 0;
    while (end < count && total < mass && probabilities[end] >= options.minP()) {
      total += probabilities[end++];
    }
    double dart = random.nextDouble() * total;
    int i = 0;
    while (i < end - 1 && dart >= probabilities[i]) {
      dart -= probabilities[i++];
    }
    return (int) candidates[i];
  }

  /** Returns a key that sorts higher logits first, then lower ids. */
  private static long key(float logit, int id) {
    int bits = Float.floatToRawIntBits(logit + 0f); // -0 equals 0
    int ascending = bits ^ (bits >> 31 & Integer.MAX_VALUE);
    return (long) ~ascending << 32 | id;
  }

  private static float logit(long key) {
    int ascending = ~(int) (key >> 32);
    return Float.intBitsToFloat(ascending ^ (ascending >> 31 & Integer.MAX_VALUE));
  }

  /**
   * Adds biases to the logits of some tokens. They are in arrays, since iterating over a map
   * allocates.
   */
  private static final class LogitBias {
    private final int[] tokens;
    private final float[] biases; // (tokens)

    LogitBias(Map<Integer, Float> bias) {
      tokens = bias.keySet().stream().mapToInt(Integer::intValue).sorted().toArray();
      biases = new float[tokens.length];
      for (int i = 0; i < tokens.length; i++) {
        biases[i] = bias.get(tokens[i]);
      }
    }

    void apply(float[] logits, int at, int vocabulary) {
      for (int i = 0; i < tokens.length && tokens[i] < vocabulary; i++) {
        logits[at + tokens[i]] += biases[i];
      }
    }
  }

  /** Penalizes generated tokens once (presence) and per occurrence (frequency). */
  private static final class PresenceFrequencyPenalty {
    private final double presence;
    private final double frequency;
    private final boolean isOn;
    private BitSet generated;
    private int[] counts = {}; // (vocabulary)

    PresenceFrequencyPenalty(double presence, double frequency) {
      this.presence = presence;
      this.frequency = frequency;
      this.isOn = presence != 0 || frequency != 0;
    }

    void apply(float[] logits, int at, int vocabulary) {
      if (!isOn) {
        return;
      }
      if (counts.length == 0) {
        counts = new int[vocabulary];
        generated = new BitSet(vocabulary);
      }
      for (int t = generated.nextSetBit(0); t >= 0; t = generated.nextSetBit(t + 1)) {
        logits[at + t] -= (float) (presence + frequency * counts[t]);
      }
    }

    void count(int token) {
      if (isOn) {
        generated.set(token);
        counts[token]++;
      }
    }
  }
}
