package dev.kvasir.lab.calibrator.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.CommvqProfile;
import dev.kvasir.codec.commvq.CommvqShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.lab.calibrator.CalibrationRequest;
import dev.kvasir.lab.calibrator.CalibratorOption;
import dev.kvasir.lab.codebook.CodebookPlan;
import dev.kvasir.lab.codebook.VectorSample.Side;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The sizes of codebooks as typed. Defaults depend on the model.
 *
 * @param rows rows of a set
 */
record CodebookOptions(Optional<Integer> valueHeads, int rows, Optional<Integer> pairs) {
  private static final CalibratorOption<Integer> VALUE_HEADS =
      CalibratorOption.withoutDefault(
          "--value-heads",
          "N",
          Integer.class,
          "commvq: KV heads whose values share codes. Default: all, or as many as have 256 channels"
              + " together.");

  private static final CalibratorOption<Integer> ROWS =
      CalibratorOption.of(
          "--rows",
          "N",
          Integer.class,
          AdditiveStages.ROWS,
          "commvq: rows of a codebook set: 16, 32 or 64. Default: ${DEFAULT-VALUE}.");

  private static final CalibratorOption<Integer> PAIRS =
      CalibratorOption.withoutDefault(
          "--pairs",
          "N",
          Integer.class,
          "commvq: channel pairs of a key that share a code. Default: all of a head.");

  /** The maximum channels of a group. Training takes the square of its stages in memory. */
  private static final int MAX_CHANNELS = 1024;

  static List<CalibratorOption<?>> all() {
    return List.of(VALUE_HEADS, ROWS, PAIRS);
  }

  /** Rejects sizes that codebooks beside encoders do not have. */
  static void rejectAll(CalibrationRequest request) {
    boolean otherRows = request.value(ROWS) != AdditiveStages.ROWS;
    if (request.find(VALUE_HEADS).isPresent() || request.find(PAIRS).isPresent() || otherRows) {
      throw new InvalidInputException(
          "%s, %s and %s are for caches without %s; --kv is 'commvq:%d,%s'"
              .formatted(
                  VALUE_HEADS.name(),
                  ROWS.name(),
                  PAIRS.name(),
                  EncoderOptions.VARIANT,
                  request.bits(),
                  EncoderOptions.VARIANT));
    }
  }

  static CodebookOptions of(CalibrationRequest request) {
    int rows = request.value(ROWS);
    if (!CommvqProfile.ROWS.contains(rows)) {
      throw new InvalidInputException(
          "--rows is %d; expected one of %s".formatted(rows, new TreeSet<>(CommvqProfile.ROWS)));
    }
    return new CodebookOptions(request.find(VALUE_HEADS), rows, request.find(PAIRS));
  }

  /** Returns the codebooks of a model; rejects sizes that do not divide its heads. */
  CodebookPlan plan(CacheShape shape, int bits) {
    int pairsOfHead = shape.headDim() / 2;
    int heads =
        valueHeads.orElseGet(() -> CommvqShape.defaultValueHeads(shape.kvHeads(), shape.headDim()));
    int pairsOfCode = pairs.orElse(pairsOfHead);
    requireDivisor(VALUE_HEADS, heads, shape.kvHeads(), "KV heads");
    requireDivisor(PAIRS, pairsOfCode, pairsOfHead, "channel pairs of a head");
    if (heads > 1 && heads * shape.headDim() > MAX_CHANNELS) {
      throw new InvalidInputException(
          "%s is %d, which makes values of %d channels; expected at most %d"
              .formatted(VALUE_HEADS.name(), heads, heads * shape.headDim(), MAX_CHANNELS));
    }
    CodebookPlan plan = CodebookPlan.of(shape, bits, heads, rows, pairsOfCode);
    int sets = 2 * plan.stages(shape, Side.KEYS);
    if (sets > Int8Codebooks.MAX_SETS) {
      throw new InvalidInputException(
          "keys of %d channels in %d bits with sets of %d rows take %d sets; at most %d can be"
                  .formatted(shape.headDim(), bits, rows, sets, Int8Codebooks.MAX_SETS)
              + " added up");
    }
    return plan;
  }

  private static void requireDivisor(
      CalibratorOption<Integer> option, int value, int whole, String unit) {
    if (value < 1 || whole % value != 0) {
      throw new InvalidInputException(
          "%s is %d; expected a divisor of %d, the %s"
              .formatted(option.name(), value, whole, unit));
    }
  }
}
