package dev.kvasir.lab.codebook.encoder;

import dev.kvasir.kernel.Kernels;
import java.util.SplittableRandom;

/**
 * Draws batches of tokens and computes their loss. Batches are whole blocks where outputs count,
 * single tokens elsewhere.
 */
final class BatchLoss {
  private static final int BLOCK = AttendedTokens.BLOCK;

  private final Kernels kernels;
  private final AttendedTokens tokens;
  private final EncoderLoss loss;
  private final int batch;
  private final int[] blocks;
  private final double valuesOfToken;
  private final double outputsOfBlock;
  private final float[] x; // (batch, width)
  private final float[] errors; // (batch, width)
  private double lastError;

  BatchLoss(Kernels kernels, AttendedTokens tokens, EncoderLoss loss, int batch) {
    this.kernels = kernels;
    this.tokens = tokens;
    this.loss = loss;
    this.batch = batch;
    this.blocks = new int[batch / BLOCK];
    this.valuesOfToken = positive(tokens.values() / tokens.count());
    this.outputsOfBlock =
        loss.countsOutputs() ? positive(tokens.outputs(kernels) / tokens.blocks()) : 1;
    this.x = new float[batch * tokens.width()];
    this.errors = new float[x.length];
  }

  /** Values that are all zero have no error either. */
  private static double positive(double squares) {
    return squares > 0 ? squares : 1;
  }

  /** Returns the next batch. // (batch, width) */
  float[] draw(SplittableRandom random) {
    int width = tokens.width();
    if (loss.countsOutputs()) {
      for (int i = 0; i < blocks.length; i++) {
        blocks[i] = random.nextInt(tokens.blocks());
        int from = blocks[i] * BLOCK * width;
        System.arraycopy(tokens.x(), from, x, i * BLOCK * width, BLOCK * width);
      }
    } else {
      for (int i = 0; i < batch; i++) {
        int from = random.nextInt(tokens.count()) * width;
        System.arraycopy(tokens.x(), from, x, i * width, width);
      }
    }
    return x;
  }

  /**
   * Computes the gradient of the loss of the last batch.
   *
   * @param decoded (batch, width)
   * @param gradient (batch, width), set
   */
  void gradient(float[] decoded, float[] gradient) {
    double square = 0;
    float ofValues = (float) (loss.countsValues() ? 2 / (batch * valuesOfToken) : 0);
    for (int i = 0; i < errors.length; i++) {
      errors[i] = decoded[i] - x[i];
      square += (double) errors[i] * errors[i];
      gradient[i] = ofValues * errors[i];
    }
    lastError = square / (batch * valuesOfToken);
    if (loss.countsOutputs()) {
      addOutputs(gradient);
    }
  }

  private void addOutputs(float[] gradient) {
    float factor = (float) (2 / (blocks.length * outputsOfBlock));
    for (int i = 0; i < errors.length; i++) {
      errors[i] *= factor;
    }
    for (int i = 0; i < blocks.length; i++) {
      int at = i * BLOCK * tokens.width();
      tokens.addMoments(kernels, blocks[i], errors, at, gradient, at);
    }
  }

  /** Returns the squared error of the last batch's values in parts of all tokens' squares. */
  double lastError() {
    return lastError;
  }
}
