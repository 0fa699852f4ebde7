package dev.kvasir.lab.codebook;

import dev.kvasir.codec.commvq.Codebook;
import dev.kvasir.codec.commvq.LayerEncoder;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.lab.codebook.VectorSample.Side;
import java.util.List;

/**
 * The error of a layer's codebooks on held-out vectors, with scales in fp16.
 *
 * @param ofVectors squared error relative to the squared norm of the vectors
 * @param ofCentred squared error relative to the squared norm of the centered vectors
 */
public record HeldOutError(double ofVectors, double ofCentred) {
  /**
   * @param books the codebooks of all KV heads of the layer, or of its groups of KV heads
   * @param width beam width
   */
  public static HeldOutError of(
      VectorSample sample, Side side, int layer, List<? extends Codebook> books, int width) {
    int heads = sample.shape().kvHeads() / books.size();
    int row = sample.count() * books.getFirst().length();
    float[] x = new float[books.size() * row];
    for (int book = 0; book < books.size(); book++) {
      short[] halves = sample.halves(side, layer, book * heads, heads);
      for (int i = 0; i < row; i++) {
        x[book * row + i] = Float.float16ToFloat(halves[i]);
      }
    }
    short[] codes = new short[books.size() * sample.count() * books.getFirst().stages().stages()];
    short[] scales = new short[sample.count()];
    float[] back = x.clone();
    LayerEncoder encoder = new LayerEncoder(KernelChoice.ofThisProcess().kernels(), books, width);
    encoder.encode(back, sample.count(), codes, scales);
    encoder.decode(codes, scales, sample.count(), back);
    return compare(x, back, books, row);
  }

  private static HeldOutError compare(
      float[] x, float[] back, List<? extends Codebook> books, int row) {
    double error = 0;
    double energy = 0;
    double centred = 0;
    for (int i = 0; i < x.length; i++) {
      float[] mean = books.get(i / row).mean();
      double left = x[i] - mean[i % mean.length];
      double difference = x[i] - back[i];
      error += difference * difference;
      energy += (double) x[i] * x[i];
      centred += left * left;
    }
    return new HeldOutError(error / energy, error / centred);
  }
}
