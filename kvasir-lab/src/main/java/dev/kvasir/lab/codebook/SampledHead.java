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
  static SampledHead in(VectorSample sample, TrainedHead head) {
    return new Lying(sample, head);
  }

  /** Where the sample lies. */
  final class Lying implements SampledHead {
    private static final long serialVersionUID = 1L;

    private final transient VectorSample sample;
    private final transient TrainedHead head;

    private Lying(VectorSample sample, TrainedHead head) {
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
      return taken().centred();
    }

    private Taken taken() {
      return new Taken(
          sample.count(),
          sample.shape().headDim(),
          sample.halves(head.side(), head.layer(), head.kvHead()),
          CentredHead.squares(sample, head.side(), head.layer()));
    }

    private Object writeReplace() {
      return taken();
    }
  }

  /**
   * All of them.
   *
   * @param halves (count, headDim)
   * @param squares (count), of the vectors of all heads of a token, less their means
   */
  record Taken(int count, int headDim, short[] halves, double[] squares) implements SampledHead {
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
