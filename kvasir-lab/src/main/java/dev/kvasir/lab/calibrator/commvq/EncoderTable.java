package dev.kvasir.lab.calibrator.commvq;

import dev.kvasir.codec.commvq.EncoderProfile;
import dev.kvasir.lab.codebook.VectorSample;
import dev.kvasir.lab.codebook.encoder.AttendedTokens;
import dev.kvasir.lab.codebook.encoder.EncoderError;
import java.io.PrintStream;
import java.util.Locale;
import java.util.function.BiConsumer;

/** The residual errors of values by layer after an encoder. */
public final class EncoderTable {
  private EncoderTable() {}

  /**
   * @param heldOut tokens that the encoders were not trained on
   * @param keep receives each figure by a name such as {@code values of layer 3,
   *     commvq:1,values=encoder}
   */
  public static void print(
      EncoderProfile profile,
      VectorSample heldOut,
      PrintStream to,
      BiConsumer<String, Double> keep) {
    String part = EncoderProfile.part(profile.bits());
    to.printf(
        Locale.ROOT,
        "what is left of the values of %,d tokens that were not trained on%n",
        heldOut.count());
    to.println("layer  values: " + part);
    for (int layer = 0; layer < profile.encoders().size(); layer++) {
      AttendedTokens tokens = AttendedTokens.of(heldOut, layer);
      double left =
          EncoderError.of(profile.encoders().get(layer), heldOut.shape().kvHeads(), tokens)
              .ofValues();
      to.printf(Locale.ROOT, "%5d %32.4f%n", layer, left);
      keep.accept("values of layer %d, %s".formatted(layer, part), left);
    }
    to.flush();
  }
}
