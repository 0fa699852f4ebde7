package dev.kvasir.lab.calibrator.commvq;

import dev.kvasir.codec.LayerRotations;
import dev.kvasir.codec.commvq.CommvqProfile;
import dev.kvasir.codec.commvq.LayerCodebooks;
import dev.kvasir.lab.codebook.AsymmetricError;
import dev.kvasir.lab.codebook.HeldOutError;
import dev.kvasir.lab.codebook.VectorSample;
import dev.kvasir.lab.codebook.VectorSample.Side;
import java.io.PrintStream;
import java.util.Locale;
import java.util.function.BiConsumer;

/** The residual errors of codebooks by layer, compared with KIVI codes of the same width. */
public final class HeldOutTable {
  /** Candidates that the beam search for codes retains. */
  private static final int BEAM = 4;

  private final VectorSample heldOut;
  private final AsymmetricError asymmetric;

  /**
   * @param heldOut tokens that the codebooks were not trained on
   * @param length tokens after which positions restart
   */
  public HeldOutTable(VectorSample heldOut, int length, LayerRotations rotations) {
    this.heldOut = heldOut;
    this.asymmetric = new AsymmetricError(heldOut, length, rotations);
  }

  /**
   * @param keep receives each figure by a name such as {@code values of layer 3, kivi:1}
   */
  public void print(CommvqProfile profile, PrintStream to, BiConsumer<String, Double> keep) {
    int bits = profile.bits();
    to.println(
        String.format(
            Locale.ROOT,
            "what is left of %,d tokens that were not trained on, beside KIVI's codes in groups of"
                + " 32",
            heldOut.count()));
    to.println(
        "layer  keys: commvq:%1$d  kivi:%1$d  values: commvq:%1$d  kivi:%1$d".formatted(bits));
    for (int layer = 0; layer < profile.layers().size(); layer++) {
      LayerCodebooks books = profile.layers().get(layer);
      double keys = HeldOutError.of(heldOut, Side.KEYS, layer, books.keys(), BEAM).ofVectors();
      double values =
          HeldOutError.of(heldOut, Side.VALUES, layer, books.values(), BEAM).ofVectors();
      double keysOfKivi = asymmetric.of(Side.KEYS, layer, bits);
      double valuesOfKivi = asymmetric.of(Side.VALUES, layer, bits);
      to.printf(
          Locale.ROOT,
          "%5d %15.4f %7.4f %17.4f %7.4f%n",
          layer,
          keys,
          keysOfKivi,
          values,
          valuesOfKivi);
      keep.accept("keys of layer %d, commvq:%d".formatted(layer, bits), keys);
      keep.accept("keys of layer %d, kivi:%d".formatted(layer, bits), keysOfKivi);
      keep.accept("values of layer %d, commvq:%d".formatted(layer, bits), values);
      keep.accept("values of layer %d, kivi:%d".formatted(layer, bits), valuesOfKivi);
    }
    to.flush();
  }
}
