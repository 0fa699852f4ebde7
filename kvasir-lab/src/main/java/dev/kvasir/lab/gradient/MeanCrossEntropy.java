package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;
import java.util.OptionalDouble;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/** The mean cross-entropy of all next tokens of the text. */
public record MeanCrossEntropy() implements Objective {
  @Override
  public int[] positions(int[] tokens) {
    return IntStream.range(0, tokens.length - 1).toArray();
  }

  @Override
  public OptionalDouble replaceWithGradients(
      Kernels kernels, float[] logits, int at, int vocabulary, int[] tokens, int position) {
    int next = at + tokens[position + 1];
    float wanted = logits[next];
    double logSum = Softmax.compute(kernels, logits, at, vocabulary);
    logits[next] -= 1;
    kernels.rows().scale(logits, at, vocabulary, 1f / (tokens.length - 1));
    return OptionalDouble.of(logSum - wanted);
  }

  @Override
  public double total(DoubleStream shares) {
    return shares.average().orElseThrow();
  }
}
