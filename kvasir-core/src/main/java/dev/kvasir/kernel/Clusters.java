package dev.kvasir.kernel;

import java.util.Arrays;
import java.util.Random;

/**
 * Lloyd's k-means with the seeding of k-means++ (Arthur and Vassilvitskii, 2007), by squared
 * Euclidean distance {@code |x|^2 - 2 x.m + |m|^2}. The same vectors always give the same centres.
 */
public final class Clusters {
  private static final long SEED = 20_250_917;

  /** Centres hardly move after as many rounds. */
  private static final int ROUNDS = 30;

  /** Vectors whose products with all centres are held at a time. */
  private static final int BATCH = 256;

  private final Kernels kernels;
  private final float[] vectors; // (count, depth)
  private final int count;
  private final int depth;
  private final int wanted;
  private final float[] centres; // (wanted, depth)
  private final float[] centreSquares; // (wanted)
  private final float[] vectorSquares; // (count)
  private final int[] nearest; // (count)
  private final float[] products; // (BATCH, wanted)
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();
  private final Random random = new Random(SEED);

  private Clusters(Kernels kernels, float[] vectors, int count, int depth, int wanted) {
    this.kernels = kernels;
    this.vectors = vectors;
    this.count = count;
    this.depth = depth;
    this.wanted = wanted;
    this.centres = new float[wanted * depth];
    this.centreSquares = new float[wanted];
    this.vectorSquares = new float[count];
    this.nearest = new int[count];
    this.products = new float[BATCH * wanted];
    for (int i = 0; i < count; i++) {
      vectorSquares[i] = square(vectors, i);
    }
  }

  /**
   * The centres of clusters, in no order that means anything.
   *
   * @param vectors (count, depth)
   * @param wanted up to {@code count}; where fewer vectors differ, some centres are equal
   * @return (wanted, depth)
   */
  public static float[] centres(
      Kernels kernels, float[] vectors, int count, int depth, int wanted) {
    Clusters clusters = new Clusters(kernels, vectors, count, depth, wanted);
    clusters.seed();
    Arrays.fill(clusters.nearest, -1);
    for (int round = 0; round < ROUNDS && clusters.assign(); round++) {
      clusters.moveCentres();
    }
    return clusters.centres;
  }

  /**
   * The centre that each vector is nearest to.
   *
   * @param vectors (count, depth)
   * @param centres (wanted, depth)
   * @return (count)
   */
  public static int[] nearest(
      Kernels kernels, float[] vectors, int count, int depth, float[] centres) {
    Clusters clusters = new Clusters(kernels, vectors, count, depth, centres.length / depth);
    System.arraycopy(centres, 0, clusters.centres, 0, centres.length);
    for (int centre = 0; centre < clusters.wanted; centre++) {
      clusters.centreSquares[centre] = clusters.square(centres, centre);
    }
    clusters.assign();
    return clusters.nearest;
  }

  /** Each further centre is a vector, drawn by its squared distance to the centres so far. */
  private void seed() {
    double[] distances = new double[count];
    Arrays.fill(distances, Double.POSITIVE_INFINITY);
    int chosen = random.nextInt(count);
    for (int centre = 0; centre < wanted; centre++) {
      System.arraycopy(vectors, chosen * depth, centres, centre * depth, depth);
      centreSquares[centre] = vectorSquares[chosen];
      chosen = draw(distances, shorten(distances, centre));
    }
  }

  /** Takes a new centre into account; answers the sum of the distances. */
  private double shorten(double[] distances, int centre) {
    double sum = 0;
    for (int from = 0; from < count; from += BATCH) {
      int batch = Math.min(BATCH, count - from);
      multiply(from, batch, centre, 1);
      for (int i = 0; i < batch; i++) {
        double distance = vectorSquares[from + i] - 2.0 * products[i] + centreSquares[centre];
        distances[from + i] = Math.min(distances[from + i], Math.max(0, distance));
        sum += distances[from + i];
      }
    }
    return sum;
  }

  /** Sets products (batch, some) of vectors and some centres. */
  private void multiply(int from, int batch, int centre, int some) {
    int vector = from * depth;
    int row = centre * depth;
    kernels
        .floats()
        .products(
            inputRows.set(vectors, vector, depth, batch, depth),
            vectorRows.set(centres, row, depth, some, depth),
            outputRows.set(products, batch, some));
  }

  private int draw(double[] distances, double sum) {
    double left = random.nextDouble() * sum;
    for (int i = 0; i < count; i++) {
      left -= distances[i];
      if (left < 0) {
        return i;
      }
    }
    return count - 1;
  }

  /** Answers whether any vector has another nearest centre than before. */
  private boolean assign() {
    boolean changed = false;
    for (int from = 0; from < count; from += BATCH) {
      int batch = Math.min(BATCH, count - from);
      multiply(from, batch, 0, wanted);
      for (int i = 0; i < batch; i++) {
        int found = nearest(i * wanted);
        changed |= found != nearest[from + i];
        nearest[from + i] = found;
      }
    }
    return changed;
  }

  private int nearest(int at) {
    int best = 0;
    float least = Float.POSITIVE_INFINITY;
    for (int centre = 0; centre < wanted; centre++) {
      float distance = centreSquares[centre] - 2 * products[at + centre];
      if (distance < least) {
        least = distance;
        best = centre;
      }
    }
    return best;
  }

  /** A centre that no vector is nearest to stays where it is. */
  private void moveCentres() {
    double[] sums = new double[wanted * depth];
    int[] members = new int[wanted];
    for (int i = 0; i < count; i++) {
      members[nearest[i]]++;
      int to = nearest[i] * depth;
      for (int d = 0; d < depth; d++) {
        sums[to + d] += vectors[i * depth + d];
      }
    }
    for (int centre = 0; centre < wanted; centre++) {
      for (int d = 0; d < depth && members[centre] > 0; d++) {
        centres[centre * depth + d] = (float) (sums[centre * depth + d] / members[centre]);
      }
      centreSquares[centre] = square(centres, centre);
    }
  }

  private float square(float[] x, int row) {
    double sum = 0;
    for (int d = row * depth; d < (row + 1) * depth; d++) {
      sum += (double) x[d] * x[d];
    }
    return (float) sum;
  }
}
