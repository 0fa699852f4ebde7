package dev.kvasir.lab.codebook.encoder;

import dev.kvasir.codec.commvq.EncoderWeights;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Where the trained numbers of an encoder are in one array, which an optimizer updates as a whole.
 *
 * <pre>
 * gain, shift (width each) | inner (hidden, width) | inner bias (hidden)
 * | outer (logits, hidden) | outer bias (logits) | codebook (bits, width)
 * </pre>
 */
record EncoderParameters(int width, int hidden, int bits) {
  int logits() {
    return 2 * bits;
  }

  int gainAt() {
    return 0;
  }

  int shiftAt() {
    return width;
  }

  int innerAt() {
    return 2 * width;
  }

  int innerBiasAt() {
    return innerAt() + hidden * width;
  }

  int outerAt() {
    return innerBiasAt() + hidden;
  }

  int outerBiasAt() {
    return outerAt() + logits() * hidden;
  }

  int codebookAt() {
    return outerBiasAt() + logits();
  }

  int count() {
    return codebookAt() + bits * width;
  }

  /**
   * Returns initial numbers: a layer norm that changes nothing, uniform weights that keep the
   * variance of activations bounded, no biases, and normal codebook rows, whose length is free
   * because decoded tokens get the length of their input.
   *
   * @param codebookSize standard deviation of codebook numbers
   */
  float[] initial(SplittableRandom random, float codebookSize) {
    float[] numbers = new float[count()];
    Arrays.fill(numbers, gainAt(), shiftAt(), 1);
    uniform(numbers, innerAt(), innerBiasAt(), width, random);
    uniform(numbers, outerAt(), outerBiasAt(), hidden, random);
    for (int i = codebookAt(); i < numbers.length; i++) {
      numbers[i] = codebookSize * (float) random.nextGaussian();
    }
    return numbers;
  }

  private static void uniform(
      float[] numbers, int from, int end, int inputs, SplittableRandom random) {
    double bound = 1 / Math.sqrt(inputs);
    for (int i = from; i < end; i++) {
      numbers[i] = (float) random.nextDouble(-bound, bound);
    }
  }

  /** Returns the trained numbers of an encoder as one array. */
  float[] numbers(EncoderWeights weights) {
    float[] numbers = new float[count()];
    int to = 0;
    for (float[] part :
        List.of(
            weights.gain(),
            weights.shift(),
            weights.inner(),
            weights.innerBias(),
            weights.outer(),
            weights.outerBias(),
            weights.codebook())) {
      System.arraycopy(part, 0, numbers, to, part.length);
      to += part.length;
    }
    return numbers;
  }

  EncoderWeights weights(float[] channelScales, float[] numbers) {
    return new EncoderWeights(
        channelScales,
        Arrays.copyOfRange(numbers, gainAt(), shiftAt()),
        Arrays.copyOfRange(numbers, shiftAt(), innerAt()),
        Arrays.copyOfRange(numbers, innerAt(), innerBiasAt()),
        Arrays.copyOfRange(numbers, innerBiasAt(), outerAt()),
        Arrays.copyOfRange(numbers, outerAt(), outerBiasAt()),
        Arrays.copyOfRange(numbers, outerBiasAt(), codebookAt()),
        Arrays.copyOfRange(numbers, codebookAt(), count()));
  }
}
