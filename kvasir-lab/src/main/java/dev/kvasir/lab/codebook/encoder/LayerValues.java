package dev.kvasir.lab.codebook.encoder;

import dev.kvasir.lab.codebook.VectorSample;
import dev.kvasir.lab.codebook.VectorSample.Side;
import java.io.Serializable;

/** The sampled values of a layer, all heads of a token together. */
sealed interface LayerValues extends Serializable {
  int count();

  int width();

  AttendedTokens tokens();

  /** Returns values that are read on use or when serialized. */
  static LayerValues in(VectorSample sample, int layer) {
    return new Deferred(sample, layer);
  }

  /** Refers to the sample. */
  final class Deferred implements LayerValues {
    private static final long serialVersionUID = 1L;

    private final transient VectorSample sample;
    private final int layer;

    private Deferred(VectorSample sample, int layer) {
      this.sample = sample;
      this.layer = layer;
    }

    @Override
    public int count() {
      return sample.count();
    }

    @Override
    public int width() {
      return sample.shape().kvHeads() * sample.shape().headDim();
    }

    @Override
    public AttendedTokens tokens() {
      return load().tokens();
    }

    private Loaded load() {
      int headDim = sample.shape().headDim();
      short[] halves = new short[count() * width()];
      for (int head = 0; head < sample.shape().kvHeads(); head++) {
        float[] own = sample.vectors(Side.VALUES, layer, head);
        for (int i = 0; i < own.length; i++) {
          int to = i / headDim * width() + head * headDim + i % headDim;
          halves[to] = Float.floatToFloat16(own[i]);
        }
      }
      return new Loaded(width(), halves);
    }

    private Object writeReplace() {
      return load();
    }
  }

  /**
   * Holds the values.
   *
   * @param halves (count, width)
   */
  record Loaded(int width, short[] halves) implements LayerValues {
    @Override
    public int count() {
      return halves.length / width;
    }

    @Override
    public AttendedTokens tokens() {
      float[] x = new float[halves.length];
      for (int i = 0; i < x.length; i++) {
        x[i] = Float.float16ToFloat(halves[i]);
      }
      return AttendedTokens.ofValues(width, x);
    }
  }
}
