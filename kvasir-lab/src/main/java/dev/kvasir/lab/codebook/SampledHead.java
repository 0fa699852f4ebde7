package dev.kvasir.lab.codebook;

import java.io.Serializable;

/** The sampled vectors of a head. */
sealed interface SampledHead extends Serializable {
  int count();

  int headDim();

  CentredHead centred();

  /**
   * Returns a head that reads its vectors on use or when serialized, so that a list of many heads
   * holds no vectors.
   */
  static SampledHead in(VectorSample sample, HeadId head) {
    return new Deferred(sample, head);
  }

  /** Refers to the sample. */
  final class Deferred implements SampledHead {
    private static final long serialVersionUID = 1L;

    private final transient VectorSample sample;
    private final transient HeadId head;

    private Deferred(VectorSample sample, HeadId head) {
      this.sample = sample;
      this.head = head;
    }

    @Override
    public int count() {
      return sample.count();
    }

    @Override
    public int headDim() {
      return sample.shape().headDim();
    }

    @Override
    public CentredHead centred() {
      return load().centred();
    }

    private Loaded load() {
      return new Loaded(
          sample.count(),
          sample.shape().headDim(),
          sample.halves(head.side(), head.layer(), head.kvHead()),
          CentredHead.squares(sample, head.side(), head.layer()));
    }

    private Object writeReplace() {
      return load();
    }
  }

  /**
   * Holds the vectors.
   *
   * @param halves (count, headDim)
   * @param squares (count), squared norm of the token's centered vectors of all heads
   */
  record Loaded(int count, int headDim, short[] halves, double[] squares) implements SampledHead {
    @Override
    public CentredHead centred() {
      float[] x = new float[halves.length];
      for (int i = 0; i < x.length; i++) {
        x[i] = Float.float16ToFloat(halves[i]);
      }
      return CentredHead.of(count, headDim, x, squares);
    }
  }
}
