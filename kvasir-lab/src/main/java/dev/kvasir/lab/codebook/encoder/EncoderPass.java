package dev.kvasir.lab.codebook.encoder;

import dev.kvasir.codec.commvq.BitPairs;
import dev.kvasir.codec.commvq.EncoderInput;
import dev.kvasir.codec.commvq.ExactGelu;
import dev.kvasir.kernel.Exponential;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import java.util.Arrays;

/**
 * The forward and backward pass of a batch of tokens. The choice of a bit pair is straight-through:
 * forward it is the largest logit, or in tests the softmax itself; backward it is the softmax's
 * derivative. Not thread safe.
 */
final class EncoderPass {
  private static final int CHOICES = BitPairs.CHOICES;
  private static final float EPSILON = EncoderInput.EPSILON;

  private final Kernels kernels;
  private final EncoderParameters at;
  private final float[] channelScales;
  private final int batch;
  private final boolean hard;

  private final float[] lengths; // (batch)
  private final float[] normalized; // (batch, width), before gain and shift
  private final float[] input; // (batch, width)
  private final float[] sums; // (batch, hidden), before gelu
  private final float[] active; // (batch, hidden)
  private final float[] shares; // (batch, logits): logits, then their softmax
  private final float[] bits; // (batch, bits)
  private final float[] decoded; // (batch, width): sums of codebook rows
  private final double[] norms; // (batch) of sums of codebook rows

  private final float[] toDecoded; // (batch, width)
  private final float[] toBits; // (batch, bits)
  private final float[] toLogits; // (batch, logits)
  private final float[] toActive; // (batch, hidden)
  private final float[] toInput; // (batch, width)
  private final float[] transposed; // the largest operand of a product over tokens

  /**
   * @param hard false to decode the softmax, whose gradients are exact
   */
  EncoderPass(
      Kernels kernels, EncoderParameters at, float[] channelScales, int batch, boolean hard) {
    this.kernels = kernels;
    this.at = at;
    this.channelScales = channelScales;
    this.batch = batch;
    this.hard = hard;
    this.lengths = new float[batch];
    this.normalized = new float[batch * at.width()];
    this.input = new float[batch * at.width()];
    this.sums = new float[batch * at.hidden()];
    this.active = new float[batch * at.hidden()];
    this.shares = new float[batch * at.logits()];
    this.bits = new float[batch * at.bits()];
    this.decoded = new float[batch * at.width()];
    this.norms = new double[batch];
    this.toDecoded = new float[batch * at.width()];
    this.toBits = new float[batch * at.bits()];
    this.toLogits = new float[batch * at.logits()];
    this.toActive = new float[batch * at.hidden()];
    this.toInput = new float[batch * at.width()];
    this.transposed = new float[batch * Math.max(at.hidden(), at.logits())];
  }

  /**
   * Encodes and decodes tokens.
   *
   * @param x (batch, width)
   * @param noise added to logits // (batch, logits)
   * @param out (batch, width), set
   */
  void forward(float[] numbers, float[] x, float[] noise, float temperature, float[] out) {
    normalize(numbers, x);
    kernels
        .floats()
        .products(
            rows(input, at.width()),
            weights(numbers, at.innerAt(), at.hidden(), at.width()),
            rows(sums, at.hidden()));
    addBias(numbers, at.innerBiasAt(), sums, at.hidden());
    for (int i = 0; i < sums.length; i++) {
      active[i] = ExactGelu.of(sums[i]);
    }
    kernels
        .floats()
        .products(
            rows(active, at.hidden()),
            weights(numbers, at.outerAt(), at.logits(), at.hidden()),
            rows(shares, at.logits()));
    addBias(numbers, at.outerBiasAt(), shares, at.logits());
    for (int i = 0; i < shares.length; i += CHOICES) {
      choose(noise, temperature, i);
    }
    Arrays.fill(decoded, 0);
    kernels
        .floats()
        .weightedSums(
            rows(bits, at.bits()),
            weights(numbers, at.codebookAt(), at.bits(), at.width()),
            rows(decoded, at.width()));
    restoreLengths(out);
  }

  private void normalize(float[] numbers, float[] x) {
    int width = at.width();
    for (int token = 0; token < batch; token++) {
      int to = token * width;
      lengths[token] = EncoderInput.normalize(x, to, channelScales, normalized, to);
      for (int i = 0; i < width; i++) {
        float gain = numbers[at.gainAt() + i];
        input[to + i] = Math.fma(normalized[to + i], gain, numbers[at.shiftAt() + i]);
      }
    }
  }

  private void choose(float[] noise, float temperature, int first) {
    float largest = Float.NEGATIVE_INFINITY;
    int choice = 0;
    for (int i = 0; i < CHOICES; i++) {
      float logit = (shares[first + i] + noise[first + i]) / temperature;
      shares[first + i] = logit;
      choice = logit > largest ? i : choice;
      largest = Math.max(largest, logit);
    }
    float sum = 0;
    for (int i = first; i < first + CHOICES; i++) {
      shares[i] = Exponential.of(shares[i] - largest);
      sum += shares[i];
    }
    for (int i = first; i < first + CHOICES; i++) {
      shares[i] /= sum;
    }
    int pair = first / 2;
    if (hard) {
      bits[pair] = BitPairs.first(choice) ? 1 : 0;
      bits[pair + 1] = BitPairs.second(choice) ? 1 : 0;
    } else {
      bits[pair] = shares[first] + shares[first + 2];
      bits[pair + 1] = shares[first + 1] + shares[first + 2];
    }
  }

  private void restoreLengths(float[] out) {
    int width = at.width();
    for (int token = 0; token < batch; token++) {
      double square = 0;
      for (int i = token * width; i < (token + 1) * width; i++) {
        square += (double) decoded[i] * decoded[i];
      }
      norms[token] = Math.sqrt(square);
      float factor = (float) ((lengths[token] + EPSILON) / (norms[token] + EPSILON));
      for (int i = 0; i < width; i++) {
        int channel = token * width + i;
        out[channel] = decoded[channel] * factor * (channelScales[i] + EPSILON);
      }
    }
  }

  /**
   * Computes the gradient of all parameters for the batch of the last {@link #forward}.
   *
   * @param toOut gradient of the loss with respect to the decoded tokens // (batch, width)
   * @param gradient set
   */
  void backward(float[] numbers, float[] toOut, float temperature, float[] gradient) {
    Arrays.fill(gradient, 0);
    throughLengths(toOut);
    addOuterProducts(bits, at.bits(), toDecoded, at.width(), gradient, at.codebookAt());
    kernels
        .floats()
        .products(
            rows(toDecoded, at.width()),
            weights(numbers, at.codebookAt(), at.bits(), at.width()),
            rows(toBits, at.bits()));
    for (int i = 0; i < toLogits.length; i += CHOICES) {
      throughSoftmax(i, temperature);
    }
    throughLinear(
        numbers,
        at.outerAt(),
        at.outerBiasAt(),
        active,
        at.hidden(),
        toLogits,
        at.logits(),
        toActive,
        gradient);
    for (int i = 0; i < toActive.length; i++) {
      toActive[i] *= ExactGelu.derivative(sums[i]);
    }
    throughLinear(
        numbers,
        at.innerAt(),
        at.innerBiasAt(),
        input,
        at.width(),
        toActive,
        at.hidden(),
        toInput,
        gradient);
    for (int i = 0; i < toInput.length; i++) {
      int channel = i % at.width();
      gradient[at.gainAt() + channel] += toInput[i] * normalized[i];
      gradient[at.shiftAt() + channel] += toInput[i];
    }
  }

  /** With z the sum of rows: {@code d(z / |z|) = (dz - z (z . dz) / |z|^2) / |z|}. */
  private void throughLengths(float[] toOut) {
    int width = at.width();
    for (int token = 0; token < batch; token++) {
      int first = token * width;
      double product = 0;
      for (int i = 0; i < width; i++) {
        float scaled = toOut[first + i] * (channelScales[i] + EPSILON);
        toDecoded[first + i] = scaled;
        product += (double) scaled * decoded[first + i];
      }
      double norm = norms[token] + EPSILON;
      float factor = (float) ((lengths[token] + EPSILON) / norm);
      float along = norms[token] == 0 ? 0 : (float) (product / (norms[token] * norm));
      for (int i = first; i < first + width; i++) {
        toDecoded[i] = factor * (toDecoded[i] - along * decoded[i]);
      }
    }
  }

  private void throughSoftmax(int first, float temperature) {
    float one = toBits[first / 2];
    float two = toBits[first / 2 + 1];
    float mean = shares[first] * one + shares[first + 1] * two + shares[first + 2] * (one + two);
    toLogits[first] = shares[first] * (one - mean) / temperature;
    toLogits[first + 1] = shares[first + 1] * (two - mean) / temperature;
    toLogits[first + 2] = shares[first + 2] * (one + two - mean) / temperature;
    toLogits[first + 3] = shares[first + 3] * -mean / temperature;
  }

  /** Goes back through {@code out = weights . in + bias}. */
  private void throughLinear(
      float[] numbers,
      int weightsAt,
      int biasAt,
      float[] in,
      int inputs,
      float[] toOut,
      int outputs,
      float[] toIn,
      float[] gradient) {
    addOuterProducts(toOut, outputs, in, inputs, gradient, weightsAt);
    for (int i = 0; i < toOut.length; i++) {
      gradient[biasAt + i % outputs] += toOut[i];
    }
    Arrays.fill(toIn, 0);
    kernels
        .floats()
        .weightedSums(
            rows(toOut, outputs), weights(numbers, weightsAt, outputs, inputs), rows(toIn, inputs));
  }

  /** {@code out[i][j] += sum over tokens of a[token][i] * b[token][j]}. */
  private void addOuterProducts(
      float[] a, int aWidth, float[] b, int bWidth, float[] out, int outAt) {
    for (int token = 0; token < batch; token++) {
      for (int i = 0; i < aWidth; i++) {
        transposed[i * batch + token] = a[token * aWidth + i];
      }
    }
    kernels
        .floats()
        .weightedSums(
            RowBlock.of(transposed, aWidth, batch),
            rows(b, bWidth),
            RowBlock.of(out, outAt, bWidth, aWidth, bWidth));
  }

  private void addBias(float[] numbers, int biasAt, float[] x, int width) {
    for (int i = 0; i < x.length; i += width) {
      for (int j = 0; j < width; j++) {
        x[i + j] += numbers[biasAt + j];
      }
    }
  }

  private RowBlock rows(float[] x, int width) {
    return RowBlock.of(x, batch, width);
  }

  private static RowBlock weights(float[] numbers, int from, int rows, int columns) {
    return RowBlock.of(numbers, from, columns, rows, columns);
  }
}
