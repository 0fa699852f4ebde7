package dev.kvasir.lab.calibrator.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.BitPairs;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.lab.calibrator.CalibrationRequest;
import dev.kvasir.lab.calibrator.CalibratorOption;
import dev.kvasir.lab.codebook.encoder.AttendedReader;
import dev.kvasir.lab.codebook.encoder.EncoderLoss;
import dev.kvasir.lab.codebook.encoder.EncoderRecipe;
import dev.kvasir.lab.codebook.encoder.EncoderSettings;
import java.util.List;
import java.util.Optional;

/** The training of value encoders as typed. Defaults depend on the model. */
record EncoderOptions(int steps, Optional<Integer> hidden, EncoderLoss loss, EncoderRecipe recipe) {
  /** What a cache with encoders has after its bits. */
  static final String VARIANT = "values=encoder";

  /** A few minutes for the bundled model on two cores. */
  private static final int DEFAULT_STEPS = 6000;

  private static final int MAX_STEPS = 1 << 20;
  private static final int MAX_HIDDEN = 1 << 14;

  private static final CalibratorOption<Integer> STEPS =
      CalibratorOption.withoutDefault(
          "--encoder-steps",
          "N",
          Integer.class,
          "commvq with values=encoder: training steps of 128 tokens. Default: "
              + DEFAULT_STEPS
              + ".");

  private static final CalibratorOption<Integer> HIDDEN =
      CalibratorOption.withoutDefault(
          "--encoder-hidden",
          "N",
          Integer.class,
          "commvq with values=encoder: hidden units. Default: two for each bit of a token, up to"
              + " 4096.");

  private static final CalibratorOption<String> LOSS =
      CalibratorOption.withoutDefault(
          "--encoder-loss",
          "LOSS",
          String.class,
          "commvq with values=encoder: errors to reduce: values, outputs (of attention) or both."
              + " Default: values.");

  private static final CalibratorOption<String> RECIPE =
      CalibratorOption.withoutDefault(
          "--encoder-recipe",
          "RECIPE",
          String.class,
          "commvq with values=encoder: short, or paper, which takes 100000 steps. Default: short.");

  static List<CalibratorOption<?>> all() {
    return List.of(STEPS, HIDDEN, LOSS, RECIPE);
  }

  static EncoderOptions of(CalibrationRequest request) {
    return new EncoderOptions(
        OptionValue.between(STEPS.name(), request.find(STEPS).orElse(DEFAULT_STEPS), 1, MAX_STEPS),
        request.find(HIDDEN).map(n -> OptionValue.between(HIDDEN.name(), n, 1, MAX_HIDDEN)),
        request
            .find(LOSS)
            .map(typed -> OptionValue.oneOf(LOSS.name(), typed, EncoderLoss.class))
            .orElse(EncoderLoss.VALUES),
        request
            .find(RECIPE)
            .map(typed -> OptionValue.oneOf(RECIPE.name(), typed, EncoderRecipe.class))
            .orElse(EncoderRecipe.SHORT));
  }

  /** Rejects these options where no encoder is trained. */
  static void rejectAll(CalibrationRequest request) {
    for (CalibratorOption<?> option : all()) {
      if (request.find(option).isPresent()) {
        throw new InvalidInputException(
            "%s is an option of 'commvq:%d,%s'; --kv is 'commvq:%d'"
                .formatted(option.name(), request.bits(), VARIANT, request.bits()));
      }
    }
  }

  /** Returns the minimum tokens of a segment: attention to a block needs queries after it. */
  int minLength() {
    return loss == EncoderLoss.VALUES ? 0 : AttendedReader.MIN_TOKENS;
  }

  EncoderSettings settings(CacheShape shape, int bits) {
    int tokenBits = BitPairs.bits(bits, shape.kvHeads() * shape.valueDim());
    return new EncoderSettings(
        tokenBits,
        hidden.orElseGet(() -> EncoderSettings.hidden(tokenBits)),
        steps,
        EncoderSettings.DEFAULT_BATCH,
        loss,
        recipe);
  }
}
