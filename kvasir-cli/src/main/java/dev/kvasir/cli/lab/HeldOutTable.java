package dev.kvasir.cli.lab;

import dev.kvasir.cli.terminal.Units;
import dev.kvasir.codec.commvq.CommvqProfile;
import dev.kvasir.codec.commvq.LayerCodebooks;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.lab.codebook.AsymmetricError;
import dev.kvasir.lab.codebook.HeldOutError;
import dev.kvasir.lab.codebook.VectorSample;
import dev.kvasir.lab.codebook.VectorSample.Side;
import java.io.PrintStream;
import java.util.Locale;

/** What codebooks leave of each layer, beside KIVI's codes of as many bits. */
final class HeldOutTable {
  /** Sums that the search for codes carries on. */
  private static final int BEAM = 4;

  private final VectorSample heldOut;
  private final AsymmetricError asymmetric;

  /**
   * @param heldOut tokens that codebooks were not trained on
   * @param length tokens after which positions begin anew
   */
  HeldOutTable(VectorSample heldOut, int length, Rotation rotation) {
    this.heldOut = heldOut;
    this.asymmetric = new AsymmetricError(heldOut, length, rotation);
  }

  void print(CommvqProfile profile, PrintStream to) {
    int bits = profile.bits();
    to.println(
        "what is left of %s that were not trained on, beside KIVI's codes in groups of 32"
            .formatted(Units.tokens(heldOut.count())));
    to.println(
        "layer  keys: commvq:%1$d  kivi:%1$d  values: commvq:%1$d  kivi:%1$d".formatted(bits));
    for (int layer = 0; layer < profile.layers().size(); layer++) {
      LayerCodebooks books = profile.layers().get(layer);
      to.printf(
          Locale.ROOT,
          "%5d %15.4f %7.4f %17.4f %7.4f%n",
          layer,
          HeldOutError.of(heldOut, Side.KEYS, layer, books.keys(), BEAM).ofVectors(),
          asymmetric.of(Side.KEYS, layer, bits),
          HeldOutError.of(heldOut, Side.VALUES, layer, books.values(), BEAM).ofVectors(),
          asymmetric.of(Side.VALUES, layer, bits));
    }
    to.flush();
  }
}
