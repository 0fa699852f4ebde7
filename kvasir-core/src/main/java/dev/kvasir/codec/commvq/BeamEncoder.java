package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import java.util.Arrays;

/**
 * Encodes vectors stage by stage with a beam search. The nearest center of a stage need not lead to
 * the best sum of all stages, so the best few sums are kept. A beam of one is a greedy search. Not
 * thread safe.
 */
public final class BeamEncoder {
  private static final int ROWS = AdditiveStages.ROWS;

  /** Vectors whose products with all rows of a stage are computed together. */
  private static final int BATCH = 64;

  private final Kernels kernels;
  private final int width;
  private final StageSearch search;
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();
  private float[] products = {}; // (BATCH, width, 2, ROWS)
  private Beams beams = new Beams();
  private Beams next = new Beams();
  private AdditiveStages stages; // the current codebook
  private int length;

  /**
   * Creates an encoder.
   *
   * @param width of the beam: sums kept for each vector, at least 1
   */
  public BeamEncoder(Kernels kernels, int width) {
    this.kernels = kernels;
    this.width = width;
    this.search = new StageSearch(kernels, width);
  }

  /** Partial sums for each vector of a batch. */
  private static final class Beams {
    private float[] residuals = {}; // (BATCH, width, length)
    private float[] errors = {}; // (BATCH, width), squared norms of residuals
    private short[] codes = {}; // (BATCH, width, stages)

    void ensureCapacity(int sums, int length, int stages) {
      if (residuals.length < sums * length) {
        residuals = new float[sums * length];
      }
      if (errors.length < sums) {
        errors = new float[sums];
      }
      if (codes.length < sums * stages) {
        codes = new short[sums * stages];
      }
    }
  }

  /**
   * Encodes vectors.
   *
   * @param x (count, length), without mean and scale
   * @param codes (count, stages)
   */
  public void encode(AdditiveStages searched, float[] x, int at, int count, short[] codes, int to) {
    stages = searched;
    length = searched.length();
    ensureCapacity(Math.min(BATCH, count));
    for (int from = 0; from < count; from += BATCH) {
      int batch = Math.min(BATCH, count - from);
      begin(x, at + from * length, batch);
      for (int stage = 0; stage < stages.stages(); stage++) {
        step(stage, batch);
      }
      for (int i = 0; i < batch; i++) {
        int best = i * width * stages.stages();
        int place = to + (from + i) * stages.stages();
        System.arraycopy(beams.codes, best, codes, place, stages.stages());
      }
    }
  }

  private void ensureCapacity(int batch) {
    if (products.length < batch * width * 2 * ROWS) {
      products = new float[batch * width * 2 * ROWS];
    }
    beams.ensureCapacity(batch * width, length, stages.stages());
    next.ensureCapacity(batch * width, length, stages.stages());
  }

  private void begin(float[] x, int at, int batch) {
    for (int i = 0; i < batch; i++) {
      System.arraycopy(x, at + i * length, beams.residuals, i * width * length, length);
    }
    Arrays.fill(beams.errors, 0);
  }

  /** Extends all sums by a stage. The first stage starts with one sum, the last one keeps one. */
  private void step(int stage, int batch) {
    int before = stage == 0 ? 1 : width;
    int after = stage == stages.stages() - 1 ? 1 : width;
    multiply(stage, batch, before);
    for (int i = 0; i < batch; i++) {
      search.begin(stages, stage, after, products);
      for (int beam = i * width; beam < i * width + before; beam++) {
        search.offer(beams.errors[beam], beam * 2 * ROWS);
      }
      search.rank();
      for (int rank = 0; rank < after; rank++) {
        extend(stage, i * width + rank, rank);
      }
    }
    Beams done = beams;
    beams = next;
    next = done;
  }

  private void multiply(int stage, int batch, int before) {
    int stride = before == 1 ? width : 1;
    kernels
        .floats()
        .products(
            inputRows.set(beams.residuals, 0, stride * length, batch * before, length),
            vectorRows.set(stages.rows(), stages.firstAt(stage, 0), length, 2 * ROWS, length),
            outputRows.set(products, 0, stride * 2 * ROWS, batch * before, 2 * ROWS));
  }

  /** Creates a sum of the next stage from a search result. */
  private void extend(int stage, int to, int rank) {
    int from = search.origin(rank) / (2 * ROWS);
    short code = search.code(rank);
    int codesTo = to * stages.stages();
    System.arraycopy(beams.codes, from * stages.stages(), next.codes, codesTo, stage);
    next.codes[codesTo + stage] = code;
    next.errors[to] = search.error(rank);
    float[] rows = stages.rows();
    int first = stages.firstAt(stage, AdditiveStages.first(code));
    int second = stages.secondAt(stage, AdditiveStages.second(code));
    for (int i = 0; i < length; i++) {
      next.residuals[to * length + i] =
          beams.residuals[from * length + i] - rows[first + i] - rows[second + i];
    }
  }
}
