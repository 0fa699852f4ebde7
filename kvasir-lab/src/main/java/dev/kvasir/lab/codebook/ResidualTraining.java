package dev.kvasir.lab.codebook;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.kernel.KMeans;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.methods.vqllm.ChannelGroups;
import dev.kvasir.methods.vqllm.LayerResidualCodebooks;
import dev.kvasir.methods.vqllm.ResidualCodebooks;
import dev.kvasir.methods.vqllm.VqllmProfile;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * Trains the codebooks of VQLLM. The codebooks of a layer's keys, and of its values, serve all
 * channel groups of all heads; each stage consists of the cluster centers of the previous stages'
 * residuals.
 */
public final class ResidualTraining {
  private static final int CHANNELS = ChannelGroups.CHANNELS;
  private static final int BLOCK = ResidualCodebooks.ROWS * CHANNELS;

  private final VectorSample sample;
  private final Kernels kernels = KernelChoice.ofThisProcess().kernels();

  /**
   * @param sample keys before rotation, in pair order
   */
  public ResidualTraining(VectorSample sample) {
    this.sample = sample;
  }

  /**
   * @return empty if the listener cancelled the training
   */
  public Optional<VqllmProfile> run(WorkerPool workers, ProgressListener listener) {
    CacheShape shape = sample.shape();
    int sides = Side.values().length;
    float[][] rows = new float[shape.layers() * sides][];
    AtomicInteger done = new AtomicInteger();
    workers.run(
        (part, worker) -> {
          rows[part] = train(grouped(sample, Side.values()[part % sides], part / sides), listener);
          synchronized (this) {
            listener.progress(done.incrementAndGet(), rows.length);
          }
        },
        rows.length);
    return listener.isCancelled()
        ? Optional.empty()
        : Optional.of(
            new VqllmProfile(
                IntStream.range(0, shape.layers())
                    .mapToObj(
                        layer ->
                            new LayerResidualCodebooks(
                                new ResidualCodebooks(rows[layer * sides]),
                                new ResidualCodebooks(rows[layer * sides + 1])))
                    .toList()));
  }

  /**
   * @param residual (vectors, CHANNELS), what remains to be encoded; changed
   */
  private float[] train(float[] residual, ProgressListener listener) {
    float[] rows = new float[ResidualCodebooks.STAGES * BLOCK];
    int count = residual.length / CHANNELS;
    int wanted = Math.min(ResidualCodebooks.ROWS, count);
    for (int stage = 0; stage < ResidualCodebooks.STAGES && !listener.isCancelled(); stage++) {
      float[] centres = KMeans.centroids(kernels, residual, count, CHANNELS, wanted);
      int[] nearest = KMeans.nearest(kernels, residual, count, CHANNELS, centres);
      for (int i = 0; i < residual.length; i++) {
        residual[i] -= centres[nearest[i / CHANNELS] * CHANNELS + i % CHANNELS];
      }
      System.arraycopy(centres, 0, rows, stage * BLOCK, centres.length);
    }
    return rows;
  }

  /**
   * Returns the channel groups of all tokens and heads, divided by their tokens' scales. //
   * (vectors, CHANNELS)
   */
  private static float[] grouped(VectorSample sample, Side side, int layer) {
    CacheShape shape = sample.shape();
    int dim = shape.headDim();
    ChannelGroups groups = new ChannelGroups(dim, side == Side.KEYS);
    int width = groups.count() * CHANNELS;
    float[] out = new float[sample.count() * shape.kvHeads() * width];
    double[] squares = new double[sample.count()];
    for (int head = 0; head < shape.kvHeads(); head++) {
      float[] x = sample.vectors(side, layer, head);
      for (int i = 0; i < x.length; i++) {
        squares[i / dim] += (double) x[i] * x[i] / (dim * shape.kvHeads());
      }
    }
    for (int head = 0; head < shape.kvHeads(); head++) {
      float[] x = sample.vectors(side, layer, head);
      for (int token = 0; token < sample.count(); token++) {
        float factor = squares[token] == 0 ? 0 : (float) (1 / Math.sqrt(squares[token]));
        int to = (head * sample.count() + token) * width;
        groups.gather(x, token * dim, factor, out, to);
      }
    }
    return out;
  }

  /**
   * Returns the error of codebooks on other vectors relative to their squared norm, with equal
   * weight for all tokens.
   *
   * @param stages number of stages in use
   */
  public static double relativeError(VectorSample test, Side side, VqllmProfile books, int stages) {
    Kernels kernels = KernelChoice.ofThisProcess().kernels();
    double residual = 0;
    double all = 0;
    for (int layer = 0; layer < test.shape().layers(); layer++) {
      LayerResidualCodebooks own = books.layers().get(layer);
      float[] x = grouped(test, side, layer);
      all += square(x);
      int count = x.length / CHANNELS;
      ResidualCodebooks rows = side == Side.KEYS ? own.keys() : own.values();
      rows.encode(kernels, x, count, stages, new byte[count * stages]);
      residual += square(x);
    }
    return residual / all;
  }

  private static double square(float[] x) {
    double sum = 0;
    for (float each : x) {
      sum += (double) each * each;
    }
    return sum;
  }
}
