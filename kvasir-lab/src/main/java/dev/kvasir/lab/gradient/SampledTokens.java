package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.lab.task.Seeds;
import java.util.OptionalDouble;
import java.util.stream.IntStream;

/**
 * The sum over all tokens of {@code log p(y)}, with y sampled from the model's own distribution.
 * The expected outer product of its gradients is the Fisher information of the model, which does
 * not hold for the tokens of the text (Kunstner, Balles and Hennig, Limitations of the empirical
 * Fisher approximation, 2019).
 *
 * @param seed seed of a text; every position has its own generator
 */
public record SampledTokens(long seed) implements Objective {
  @Override
  public int[] positions(int[] tokens) {
    return IntStream.range(0, tokens.length).toArray();
  }

  /** The gradient of {@code log p(y)} is 1 at y, minus the probabilities. */
  @Override
  public OptionalDouble replaceWithGradients(
      Kernels kernels, float[] logits, int at, int vocabulary, int[] tokens, int position) {
    Softmax.compute(kernels, logits, at, vocabulary);
    int drawn = at + draw(logits, at, vocabulary, position);
    double share = Math.log(logits[drawn]);
    kernels.rows().scale(logits, at, vocabulary, -1);
    logits[drawn] += 1;
    return OptionalDouble.of(share);
  }

  /** Probability lost to rounding belongs to the last token with a nonzero probability. */
  int draw(float[] probabilities, int at, int vocabulary, int position) {
    double left = Seeds.of(seed, "sampled-tokens", 0, position).nextDouble();
    int last = 0;
    for (int token = 0; token < vocabulary; token++) {
      float probability = probabilities[at + token];
      if (probability > 0) {
        last = token;
        left -= probability;
        if (left < 0) {
          return token;
        }
      }
    }
    return last;
  }
}
