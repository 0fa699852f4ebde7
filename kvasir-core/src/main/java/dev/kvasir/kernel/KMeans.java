package dev.kvasir.kernel;

import java.util.Arrays;
import java.util.Random;

/**
 * Lloyd's k-means with k-means++ seeding (Arthur and Vassilvitskii, 2007), by squared Euclidean
 * distance {@code |x|^2 - 2 x.m + |m|^2}. The result is deterministic.
 */
public final class KMeans {
  private static final long SEED = 20_250_917;

  /** Centroids hardly move after this many rounds. */
  public static final int ROUNDS = 30;

  /** Vectors per batch of products with all centroids. */
  private static final int BATCH = 256;

  private final Kernels kernels;
  private final float[] vectors; // (count, depth)
  private final int count;
  private final int depth;
  private final int k;
  private final float[] centroids; // (k, depth)
  private final float[] centroidSquares; // (k)
  private final float[] vectorSquares; // (count)
  private final int[] nearest; // (count)
  private final float[] products; // (BATCH, k)
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();

  private KMeans(Kernels kernels, float[] vectors, int count, int depth, int k) {
    this.kernels = kernels;
    this.vectors = vectors;
    this.count = count;
    this.depth = depth;
    this.k = k;
    this.centroids = new float[k * depth];
    this.centroidSquares = new float[k];
    this.vectorSquares = new float[count];
    this.nearest = new int[count];
    this.products = new float[BATCH * k];
    for (int i = 0; i < count; i++) {
      vectorSquares[i] = square(vectors, i);
    }
  }

  /**
   * The random numbers of the seeding.
   *
   * @param first the vector that becomes the first centroid
   * @param fractions of the sum of distances, by which the vector of each next centroid is drawn
   */
  public record Draws(int first, double[] fractions) {}

  /** Returns the random numbers that seed k clusters of {@code count} vectors. */
  public static Draws draws(int count, int k) {
    Random random = new Random(SEED);
    int first = random.nextInt(count);
    double[] fractions = new double[k];
    Arrays.setAll(fractions, any -> random.nextDouble());
    return new Draws(first, fractions);
  }

  /**
   * Returns the centroids of k clusters, in no particular order.
   *
   * @param vectors (count, depth)
   * @param k up to {@code count}; if fewer vectors differ, some centroids are equal
   * @return (k, depth)
   */
  public static float[] centroids(Kernels kernels, float[] vectors, int count, int depth, int k) {
    KMeans kMeans = new KMeans(kernels, vectors, count, depth, k);
    kMeans.seed();
    Arrays.fill(kMeans.nearest, -1);
    for (int round = 0; round < ROUNDS && kMeans.assign(); round++) {
      kMeans.updateCentroids();
    }
    return kMeans.centroids;
  }

  /**
   * Returns the index of the nearest centroid of each vector.
   *
   * @param vectors (count, depth)
   * @param centroids (k, depth)
   * @return (count)
   */
  public static int[] nearest(
      Kernels kernels, float[] vectors, int count, int depth, float[] centroids) {
    KMeans kMeans = new KMeans(kernels, vectors, count, depth, centroids.length / depth);
    System.arraycopy(centroids, 0, kMeans.centroids, 0, centroids.length);
    for (int centroid = 0; centroid < kMeans.k; centroid++) {
      kMeans.centroidSquares[centroid] = kMeans.square(centroids, centroid);
    }
    kMeans.assign();
    return kMeans.nearest;
  }

  /**
   * Draws each further centroid from the vectors, weighted by the squared distance to the centroids
   * so far.
   */
  private void seed() {
    double[] distances = new double[count];
    Arrays.fill(distances, Double.POSITIVE_INFINITY);
    Draws draws = draws(count, k);
    int chosen = draws.first();
    for (int centroid = 0; centroid < k; centroid++) {
      System.arraycopy(vectors, chosen * depth, centroids, centroid * depth, depth);
      centroidSquares[centroid] = vectorSquares[chosen];
      double sum = updateDistances(distances, centroid);
      chosen = sample(distances, draws.fractions()[centroid] * sum);
    }
  }

  /** Updates the distances with a new centroid and returns their sum. */
  private double updateDistances(double[] distances, int centroid) {
    double sum = 0;
    for (int from = 0; from < count; from += BATCH) {
      int batch = Math.min(BATCH, count - from);
      multiply(from, batch, centroid, 1);
      for (int i = 0; i < batch; i++) {
        double distance = vectorSquares[from + i] - 2.0 * products[i] + centroidSquares[centroid];
        distances[from + i] = Math.min(distances[from + i], Math.max(0, distance));
        sum += distances[from + i];
      }
    }
    return sum;
  }

  /** Computes products (batch, some) of vectors and {@code some} centroids. */
  private void multiply(int from, int batch, int centroid, int some) {
    int vector = from * depth;
    int row = centroid * depth;
    kernels
        .floats()
        .products(
            inputRows.set(vectors, vector, depth, batch, depth),
            vectorRows.set(centroids, row, depth, some, depth),
            outputRows.set(products, batch, some));
  }

  private int sample(double[] distances, double share) {
    double left = share;
    for (int i = 0; i < count; i++) {
      left -= distances[i];
      if (left < 0) {
        return i;
      }
    }
    return count - 1;
  }

  /** Assigns each vector to its nearest centroid. Returns whether any assignment changed. */
  private boolean assign() {
    boolean changed = false;
    for (int from = 0; from < count; from += BATCH) {
      int batch = Math.min(BATCH, count - from);
      multiply(from, batch, 0, k);
      for (int i = 0; i < batch; i++) {
        int found = nearest(i * k);
        changed |= found != nearest[from + i];
        nearest[from + i] = found;
      }
    }
    return changed;
  }

  private int nearest(int at) {
    int best = 0;
    float least = Float.POSITIVE_INFINITY;
    for (int centroid = 0; centroid < k; centroid++) {
      float distance = centroidSquares[centroid] - 2 * products[at + centroid];
      if (distance < least) {
        least = distance;
        best = centroid;
      }
    }
    return best;
  }

  /** Moves each centroid to the mean of its vectors; an empty cluster keeps its centroid. */
  private void updateCentroids() {
    double[] sums = new double[k * depth];
    int[] members = new int[k];
    for (int i = 0; i < count; i++) {
      members[nearest[i]]++;
      int to = nearest[i] * depth;
      for (int d = 0; d < depth; d++) {
        sums[to + d] += vectors[i * depth + d];
      }
    }
    for (int centroid = 0; centroid < k; centroid++) {
      for (int d = 0; d < depth && members[centroid] > 0; d++) {
        centroids[centroid * depth + d] = (float) (sums[centroid * depth + d] / members[centroid]);
      }
      centroidSquares[centroid] = square(centroids, centroid);
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
