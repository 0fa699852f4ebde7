package dev.kvasir.lab.codebook;

import java.io.Serializable;

/** The vectors of a head, for who trains it. */
sealed interface SampledHead extends Serializable {
  int count();

  int headDim();

  CentredHead centred();

  /**
   * Read when they are asked for, or sent to another process: a list of many heads holds no
   * vectors.
   */
  static SampledHead in(VectorSample sample, HeadId head) {
    return new Deferred(sample, head);
  }

  /** Where the sample lies. */
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
   * All of them.
   *
   * @param halves (count, headDim)
   * @param squares (count), of the vectors of all heads of a token, less their means
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
