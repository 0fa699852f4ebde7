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
   * @param heads the codebooks of all KV heads of the layer
   * @param width beam width
   */
  public static HeldOutError of(
      VectorSample sample, Side side, int layer, List<? extends Codebook> heads, int width) {
    int row = sample.count() * sample.shape().headDim();
    float[] x = new float[heads.size() * row];
    for (int head = 0; head < heads.size(); head++) {
      System.arraycopy(sample.vectors(side, layer, head), 0, x, head * row, row);
    }
    short[] codes = new short[heads.size() * sample.count() * heads.getFirst().stages().stages()];
    short[] scales = new short[sample.count()];
    float[] back = x.clone();
    LayerEncoder encoder = new LayerEncoder(KernelChoice.ofThisProcess().kernels(), heads, width);
    encoder.encode(back, sample.count(), codes, scales);
    encoder.decode(codes, scales, sample.count(), back);
    return compare(x, back, heads, row);
  }

  private static HeldOutError compare(
      float[] x, float[] back, List<? extends Codebook> heads, int row) {
    double error = 0;
    double energy = 0;
    double centred = 0;
    for (int i = 0; i < x.length; i++) {
      float[] mean = heads.get(i / row).mean();
      double left = x[i] - mean[i % mean.length];
      double difference = x[i] - back[i];
      error += difference * difference;
      energy += (double) x[i] * x[i];
      centred += left * left;
    }
    return new HeldOutError(error / energy, error / centred);
  }
}
