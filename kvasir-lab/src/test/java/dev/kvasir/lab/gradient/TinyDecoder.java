package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Matrix;
import dev.kvasir.model.Activation;
import dev.kvasir.model.Architecture;
import dev.kvasir.model.GatedWeights;
import dev.kvasir.model.HeadNorm;
import dev.kvasir.model.LayerWeights;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.ModelConfig.OutputWeights;
import dev.kvasir.model.ModelConfig.RopeSettings;
import dev.kvasir.model.MultiHeadWeights;
import dev.kvasir.model.Projection;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.model.RopePattern;
import dev.kvasir.model.Scales;
import dev.kvasir.model.Weights;
import dev.kvasir.model.WindowPattern;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

/** A small random decoder that covers every option of the real one. */
public record TinyDecoder(ModelConfig config, Weights weights) {
  private static final float EPSILON = 0.02f; // large enough that a wrong one is noticed
  private static final double ROPE_BASE = 100; // small enough that every pair rotates

  /**
   * @param rotated rotary channels of a head
   * @param window positions that odd layers see; even ones see all
   */
  public record Choices(
      int queryHeads,
      int kvHeads,
      int headDim,
      int rotated,
      RopeLayout layout,
      boolean biases,
      boolean headNorms,
      int window,
      boolean tied) {
    public static Choices plain() {
      return new Choices(
          4, 2, 8, 8, RopeLayout.HALVES, false, false, WindowPattern.UNBOUNDED, false);
    }
  }

  public static TinyDecoder of(Choices choices, long seed) {
    return new Maker(choices, new Random(seed)).decoder();
  }

  private record Maker(Choices choices, Random random) {
    private static final int LAYERS = 3;
    private static final int HIDDEN = 24;
    private static final int FEED_FORWARD = 40;
    private static final int VOCABULARY = 50;

    TinyDecoder decoder() {
      WindowPattern windows = layer -> layer % 2 == 0 ? WindowPattern.UNBOUNDED : choices.window();
      ModelConfig config =
          new ModelConfig(
              "tiny",
              Architecture.LLAMA,
              LAYERS,
              HIDDEN,
              FEED_FORWARD,
              choices.queryHeads(),
              choices.kvHeads(),
              choices.headDim(),
              choices.headDim(),
              VOCABULARY,
              512,
              EPSILON,
              RopePattern.uniform(
                  new RopeSettings(
                      choices.layout(),
                      ROPE_BASE,
                      choices.rotated(),
                      new RopeFrequencies.Linear(1.5))),
              windows,
              Scales.NONE,
              Optional.empty(),
              Optional.empty(),
              choices.tied() ? OutputWeights.EMBEDDING : OutputWeights.OWN);
      Matrix embedding = matrix(VOCABULARY, HIDDEN);
      List<LayerWeights> layers =
          IntStream.range(0, LAYERS).mapToObj(layer -> layer(windows.of(layer))).toList();
      Matrix output = choices.tied() ? embedding : matrix(VOCABULARY, HIDDEN);
      // Heap memory needs no arena.
      return new TinyDecoder(
          config, new Weights(embedding, layers, vector(HIDDEN, 1), output, null, null));
    }

    private LayerWeights layer(int window) {
      int queries = choices.queryHeads() * choices.headDim();
      int keys = choices.kvHeads() * choices.headDim();
      return new LayerWeights(
          vector(HIDDEN, 1),
          new MultiHeadWeights(
              projection(queries, HIDDEN),
              projection(keys, HIDDEN),
              projection(keys, HIDDEN),
              headNorm(),
              headNorm(),
              new HeadNorm.None(),
              MultiHeadWeights.NO_SINKS,
              projection(HIDDEN, queries)),
          LayerWeights.NO_NORM,
          vector(HIDDEN, 1),
          new GatedWeights(
              projection(FEED_FORWARD, HIDDEN),
              projection(FEED_FORWARD, HIDDEN),
              projection(HIDDEN, FEED_FORWARD),
              Activation.SILU),
          LayerWeights.NO_NORM,
          window);
    }

    private HeadNorm headNorm() {
      return choices.headNorms()
          ? new HeadNorm.RootMeanSquare(vector(choices.headDim(), 1), EPSILON)
          : new HeadNorm.None();
    }

    private Projection projection(int rows, int columns) {
      return new Projection(
          matrix(rows, columns), choices.biases() ? vector(rows, 0) : new float[0]);
    }

    /** Returns a matrix that amplifies its input, so that attention is not uniform. */
    private Matrix matrix(int rows, int columns) {
      float[] values = new float[rows * columns];
      for (int i = 0; i < values.length; i++) {
        values[i] = (float) (1.5 * random.nextGaussian() / Math.sqrt(columns));
      }
      return new DenseMatrix(Precision.F32, rows, columns, MemorySegment.ofArray(values));
    }

    private float[] vector(int length, double middle) {
      float[] vector = new float[length];
      for (int i = 0; i < length; i++) {
        vector[i] = (float) (middle + 0.3 * random.nextGaussian());
      }
      return vector;
    }
  }
}
