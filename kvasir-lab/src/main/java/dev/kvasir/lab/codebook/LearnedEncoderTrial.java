package dev.kvasir.lab.codebook;

import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.LayerCodebooks;
import dev.kvasir.codec.commvq.LayerEncoder;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.runtime.LoadedModel;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;

/**
 * Compares CommVQ's learned value encoder with residual stages of about equal bits on the same
 * tokens. The encoder covers all heads of a token and trains with the loss of the paper: errors of
 * values and of attention outputs.
 */
public final class LearnedEncoderTrial {
  /** Shorter texts have no block with queries after it. */
  public static final int MIN_TOKENS = AttendedValues.MIN_TOKENS;

  /** Beam width of the encoder. */
  private static final int BEAM = 4;

  private final int layer;
  private final long seed;
  private final float[] mean; // (width)
  private final List<AttendedBlock> training;
  private final List<AttendedBlock> test;

  /**
   * The error on held-out tokens.
   *
   * @param bits bits per channel
   * @param valueError relative to the squared norm of the centered values
   * @param outputError relative to the squared norm of their contributions to attention outputs
   */
  public record CodingError(double bits, double valueError, double outputError) {}

  /**
   * @param sample sample whose means are subtracted
   */
  public LearnedEncoderTrial(
      LoadedModel model,
      int layer,
      VectorSample sample,
      List<int[]> training,
      List<int[]> test,
      WorkerPool workers,
      long seed,
      ProgressListener listener) {
    this.layer = layer;
    this.seed = seed;
    this.mean = means(sample);
    this.training = new AttendedValues(model, layer, workers).read(training, mean, listener);
    this.test = new AttendedValues(model, layer, workers).read(test, mean, listener);
  }

  private float[] means(VectorSample sample) {
    int dim = sample.shape().headDim();
    float[] means = new float[sample.shape().kvHeads() * dim];
    for (int head = 0; head < sample.shape().kvHeads(); head++) {
      float[] own = CentredHead.mean(sample.vectors(Side.VALUES, layer, head), dim);
      System.arraycopy(own, 0, means, head * dim, dim);
    }
    return means;
  }

  /**
   * Trains an encoder and returns its error.
   *
   * @param bits bits of a token, all heads together; even
   * @param hidden hidden units of the encoder
   */
  public CodingError trainEncoder(int bits, int hidden, int steps, ProgressListener listener) {
    int width = mean.length;
    SplittableRandom random = new SplittableRandom(seed);
    BitEncoder encoder = new BitEncoder(width, hidden, bits, random);
    new BitEncoderTraining(
            encoder, (drawn, t, gradient) -> addGradients(encoder, drawn, t, gradient), random)
        .run(
            steps,
            step -> {
              listener.progress(step, steps);
              return !listener.isCancelled();
            });
    return codingError(
        (double) bits / width,
        x -> {
          double[] decoded = new double[x.length];
          float[] floats = floats(x);
          for (int at = 0; at < x.length; at += width) {
            encoder.reconstruct(floats, at, decoded, at);
          }
          return decoded;
        });
  }

  private int addGradients(
      BitEncoder encoder, SplittableRandom random, double temperature, double[] gradient) {
    AttendedBlock block = training.get(random.nextInt(training.size()));
    int width = block.width();
    double[][] noise = new double[block.tokens()][encoder.logitCount()];
    double[] decoded = new double[block.x().length];
    for (int token = 0; token < block.tokens(); token++) {
      BitEncoderTraining.gumbel(random, noise[token]);
      int at = token * width;
      encoder.reconstructSoftly(block.x(), at, noise[token], temperature, decoded, at);
    }
    double[] toDecoded = block.gradient(decoded);
    for (int token = 0; token < block.tokens(); token++) {
      int at = token * width;
      encoder.backpropagate(block.x(), at, noise[token], temperature, toDecoded, at, gradient);
    }
    return block.tokens();
  }

  /** Returns the error of residual stages that calibration has trained. */
  public CodingError residualError(LayerCodebooks books) {
    int groups = books.values().size();
    int dim = mean.length / groups;
    int stages = books.values().getFirst().stages().stages();
    return codingError(
        (double) AdditiveStages.CODE_BITS * stages / dim,
        x -> {
          int tokens = x.length / mean.length;
          float[] byGroup = new float[x.length];
          for (int i = 0; i < x.length; i++) {
            int channel = i % mean.length;
            int to = (channel / dim * tokens + i / mean.length) * dim + channel % dim;
            byGroup[to] = (float) x[i] + mean[channel];
          }
          short[] codes = new short[groups * tokens * stages];
          short[] scales = new short[tokens];
          LayerEncoder encoder =
              new LayerEncoder(KernelChoice.ofThisProcess().kernels(), books.values(), BEAM);
          encoder.encode(byGroup, tokens, codes, scales);
          encoder.decode(codes, scales, tokens, byGroup);
          double[] decoded = new double[x.length];
          for (int i = 0; i < x.length; i++) {
            int channel = i % mean.length;
            int from = (channel / dim * tokens + i / mean.length) * dim + channel % dim;
            decoded[i] = byGroup[from] - mean[channel];
          }
          return decoded;
        });
  }

  private CodingError codingError(double bits, UnaryOperator<double[]> coder) {
    double values = 0;
    double outputs = 0;
    for (AttendedBlock block : test) {
      double[] x = new double[block.x().length];
      for (int i = 0; i < x.length; i++) {
        x[i] = block.x()[i];
      }
      AttendedBlock.Distortion distortion = block.distortion(coder.apply(x));
      values += distortion.valueError() / test.size();
      outputs += distortion.outputError() / test.size();
    }
    return new CodingError(bits, values, outputs);
  }

  private static float[] floats(double[] x) {
    float[] floats = new float[x.length];
    for (int i = 0; i < x.length; i++) {
      floats[i] = (float) x[i];
    }
    return floats;
  }
}
