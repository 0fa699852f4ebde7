package dev.kvasir.lab.codebook.encoder;

import dev.kvasir.codec.commvq.BitPairs;
import java.io.Serializable;

/**
 * Settings of a training.
 *
 * @param bits bits of a token, all KV heads together
 * @param hidden hidden units
 * @param steps steps of AdamW
 * @param batch tokens of a step
 */
public record EncoderSettings(
    int bits, int hidden, int steps, int batch, EncoderLoss loss, EncoderRecipe recipe)
    implements Serializable {

  private static final int MAX_HIDDEN = 4096;

  /** Small batches learn more in equal time than large ones. */
  public static final int DEFAULT_BATCH = 128;

  public EncoderSettings {
    if (bits < 2 || bits % 2 != 0) {
      throw new IllegalArgumentException("%d bits; expected an even number".formatted(bits));
    }
    if (batch % AttendedTokens.BLOCK != 0) {
      throw new IllegalArgumentException(
          "%d tokens; expected a multiple of %d".formatted(batch, AttendedTokens.BLOCK));
    }
  }

  /** Returns the hidden units of the paper: one for each logit, up to 4,096. */
  public static int hidden(int bits) {
    return Math.min(MAX_HIDDEN, BitPairs.CHOICES * bits / 2);
  }
}
