package dev.kvasir.lab.codebook;

import dev.kvasir.lab.codebook.VectorSample.Side;
import java.io.Serializable;

/** The sampled vectors of a head, or of a group of heads side by side. */
sealed interface SampledHead extends Serializable {
  int count();

  /** Returns the channels of a vector. */
  int channels();

  CentredHead centred();

  /**
   * Returns a head that reads its vectors on use or when serialized, so that a list of many heads
   * holds no vectors.
   *
   * @param valueHeads KV heads of a group of values
   */
  static SampledHead in(VectorSample sample, HeadId head, int valueHeads) {
    return new Deferred(sample, head, head.side() == Side.KEYS ? 1 : valueHeads);
  }

  /** Refers to the sample. */
  final class Deferred implements SampledHead {
    private static final long serialVersionUID = 1L;

    private final transient VectorSample sample;
    private final transient HeadId head;
    private final transient int heads;

    private Deferred(VectorSample sample, HeadId head, int heads) {
      this.sample = sample;
      this.head = head;
      this.heads = heads;
    }

    @Override
    public int count() {
      return sample.count();
    }

    @Override
    public int channels() {
      return heads * sample.shape().headDim();
    }

    @Override
    public CentredHead centred() {
      return load().centred();
    }

    private Loaded load() {
      return new Loaded(
          sample.count(),
          channels(),
          sample.halves(head.side(), head.layer(), head.kvHead() * heads, heads),
          CentredHead.squares(sample, head.side(), head.layer()));
    }

    private Object writeReplace() {
      return load();
    }
  }

  /**
   * Holds the vectors.
   *
   * @param halves (count, channels)
   * @param squares (count), squared norm of the token's centered vectors of all heads
   */
  record Loaded(int count, int channels, short[] halves, double[] squares) implements SampledHead {
    @Override
    public CentredHead centred() {
      float[] x = new float[halves.length];
      for (int i = 0; i < x.length; i++) {
        x[i] = Float.float16ToFloat(halves[i]);
      }
      return CentredHead.of(count, channels, x, squares);
    }
  }
}
