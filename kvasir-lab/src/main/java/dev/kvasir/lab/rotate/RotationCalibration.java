package dev.kvasir.lab.rotate;

import dev.kvasir.Model;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.basis.Hadamard;
import dev.kvasir.codec.basis.HouseholderRotation;
import dev.kvasir.codec.basis.LayerBasis;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.gradient.AttentionResult;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.methods.oscar.OscarProfile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.ojalgo.matrix.decomposition.Eigenvalue;
import org.ojalgo.matrix.store.R064Store;

/**
 * Finds OSCAR's rotations, for keys from the second moments of queries and for values from those of
 * attention outputs, and then the clipping of rotated vectors.
 */
public final class RotationCalibration {
  /** Bits of the codes that clipping is optimized for. */
  public static final int BITS = 2;

  /** Number of texts for the clipping search; the error hardly depends on it. */
  private static final int TRIED = 2;

  private final TracedDecoder decoder;
  private final CacheShape shape;
  private final int queryHeads;
  private final ProgressListener listener;

  public RotationCalibration(Model model, WorkerPool workers, ProgressListener listener) {
    this.decoder = TracedDecoder.of(model, 1, workers);
    this.shape = model.config().cacheShape();
    this.queryHeads = model.config().queryHeads();
    this.listener = listener;
  }

  /**
   * @return empty if the listener cancelled the calibration
   */
  public Optional<OscarProfile> run(List<int[]> texts) {
    HeadSecondMoments queries =
        new HeadSecondMoments(shape.layers(), shape.kvHeads(), shape.keyDim());
    HeadSecondMoments found =
        new HeadSecondMoments(shape.layers(), shape.kvHeads(), shape.valueDim());
    List<int[]> tried = texts.subList(0, Math.min(TRIED, texts.size()));
    int total = texts.size() + tried.size();
    read(
        texts,
        0,
        total,
        result -> {
          queries.add(result.layer(), result.vectors().queries(), queryHeads, decoder.workers());
          found.add(result.layer(), result.outputs(), queryHeads, decoder.workers());
        });
    if (listener.isCancelled()) {
      return Optional.empty();
    }
    List<HouseholderRotation> keys = rotations(queries, shape.keyDim());
    List<HouseholderRotation> values = rotations(found, shape.valueDim());
    List<ClipSearch> keyClips = searches(shape.keyDim());
    List<ClipSearch> valueClips = searches(shape.valueDim());
    read(
        tried,
        texts.size(),
        total,
        result -> {
          int layer = result.layer();
          keyClips.get(layer).add(rotated(keys.get(layer), result.vectors().keys()));
          valueClips.get(layer).add(rotated(values.get(layer), result.vectors().values()));
        });
    return listener.isCancelled()
        ? Optional.empty()
        : Optional.of(new OscarProfile(layers(keys, keyClips, values, valueClips)));
  }

  private List<LayerBasis> layers(
      List<HouseholderRotation> keys,
      List<ClipSearch> keyClips,
      List<HouseholderRotation> values,
      List<ClipSearch> clips) {
    return IntStream.range(0, shape.layers())
        .mapToObj(
            layer ->
                new LayerBasis(
                    keys.get(layer),
                    keyClips.get(layer).best(),
                    values.get(layer),
                    clips.get(layer).best()))
        .toList();
  }

  private interface LayerVisitor {
    void visit(AttentionResult result);
  }

  private void read(List<int[]> texts, int before, int total, LayerVisitor visitor) {
    for (int i = 0; i < texts.size() && !listener.isCancelled(); i++) {
      decoder.forward(
          texts.get(i),
          new TextVisitor() {
            @Override
            public boolean afterAttention(AttentionResult result) {
              visitor.visit(result);
              return !listener.isCancelled();
            }
          });
      listener.progress(before + i + 1, total);
    }
  }

  private List<ClipSearch> searches(int dim) {
    return IntStream.range(0, shape.layers()).mapToObj(i -> new ClipSearch(dim, BITS)).toList();
  }

  private List<HouseholderRotation> rotations(HeadSecondMoments moments, int dim) {
    List<HouseholderRotation> layers = new ArrayList<>();
    for (int layer = 0; layer < shape.layers(); layer++) {
      float[] rows = new float[shape.kvHeads() * dim * dim];
      for (int head = 0; head < shape.kvHeads(); head++) {
        float[] own = SpectralRotation.of(moments.of(layer, head), dim);
        System.arraycopy(own, 0, rows, head * dim * dim, own.length);
      }
      layers.add(new HouseholderRotation(dim, rows));
    }
    return layers;
  }

  /**
   * @param x (tokens, kvHeads, dim), unchanged
   */
  private float[] rotated(HouseholderRotation rotation, float[] x) {
    float[] changed = x.clone();
    for (int at = 0; at < x.length; at += rotation.dim()) {
      rotation.transform(at / rotation.dim() % shape.kvHeads(), changed, at, 1);
    }
    return changed;
  }

  /** Sums of {@code x . x^T} of each head's vectors, over the query heads that share a KV head. */
  private static final class HeadSecondMoments {
    private final int kvHeads;
    private final int dim;
    private final double[][] sums; // by layer and KV head: (dim, dim)

    HeadSecondMoments(int layers, int kvHeads, int dim) {
      this.kvHeads = kvHeads;
      this.dim = dim;
      this.sums = new double[layers * kvHeads][dim * dim];
    }

    /**
     * @param x (tokens, queryHeads, dim)
     */
    void add(int layer, float[] x, int queryHeads, WorkerPool workers) {
      int shared = queryHeads / kvHeads;
      int tokens = x.length / (queryHeads * dim);
      workers.run(
          (part, worker) -> {
            int kvHead = part / dim;
            int row = part % dim;
            double[] sum = sums[layer * kvHeads + kvHead];
            for (int token = 0; token < tokens; token++) {
              for (int head = kvHead * shared; head < (kvHead + 1) * shared; head++) {
                int at = (token * queryHeads + head) * dim;
                double factor = x[at + row];
                for (int column = 0; column < dim; column++) {
                  sum[row * dim + column] += factor * x[at + column];
                }
              }
            }
          },
          kvHeads * dim);
    }

    /** Returns the second moments of a head. // (dim, dim) */
    double[] of(int layer, int kvHead) {
      return sums[layer * kvHeads + kvHead];
    }
  }

  /**
   * The rotation {@code U H P} of second moments: eigenvectors from the largest to the smallest
   * eigenvalue, a Hadamard transform that gives every element equal importance, and a permutation
   * that spreads both ends over neighboring groups.
   */
  static final class SpectralRotation {
    private SpectralRotation() {}

    /**
     * @param moments (dim, dim), symmetric
     * @return (dim, dim), rows to multiply a vector with
     */
    static float[] of(double[] moments, int dim) {
      R064Store store = R064Store.FACTORY.make(dim, dim);
      for (int i = 0; i < moments.length; i++) {
        store.set(i / dim, i % dim, moments[i]);
      }
      Eigenvalue<Double> eigen = Eigenvalue.R064.make(dim, true);
      eigen.decompose(store);
      int[] falling =
          IntStream.range(0, dim)
              .boxed()
              .sorted(Comparator.comparingDouble((Integer i) -> -eigen.getD().doubleValue(i, i)))
              .mapToInt(Integer::intValue)
              .toArray();
      Hadamard hadamard = Hadamard.plain(dim);
      int[] order = bitReversal(dim);
      float[] rows = new float[dim * dim];
      float[] column = new float[dim];
      for (int channel = 0; channel < dim; channel++) {
        for (int i = 0; i < dim; i++) {
          column[i] = eigen.getV().get(channel, falling[i]).floatValue();
        }
        hadamard.transform(0, column, 0, 1);
        for (int i = 0; i < dim; i++) {
          rows[i * dim + channel] = column[order[i]];
        }
      }
      return rows;
    }

    /** Returns the numbers below a bound in bit-reversed order. */
    static int[] bitReversal(int count) {
      Integer[] order = new Integer[count];
      Arrays.setAll(order, i -> i);
      Arrays.sort(order, Comparator.comparingInt(i -> Integer.reverse(i) >>> 1));
      return Arrays.stream(order).mapToInt(Integer::intValue).toArray();
    }
  }
}
