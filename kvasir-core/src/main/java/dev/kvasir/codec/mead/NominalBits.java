package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.ResidualTokenStats;

/**
 * What the bits of a spec count: all bytes of a sequence of {@link #TOKENS} tokens with the default
 * sinks, late sinks and window, divided by its values. The residual window counts with the average
 * memory of its blocks. Tables are not counted, because all sequences of a model share them.
 *
 * <pre>
 * sinks 16 | quantized ...           | 16-bit: 128 to 255 tokens in one or two blocks of 128
 *   and once for a sequence: late sinks, attention received by the tokens of the residual window
 * </pre>
 */
final class NominalBits {
  static final int SINKS = 16;
  static final int LATE_SINKS = 4;
  static final int WINDOW = 128;

  private static final int TOKENS = 8192;

  /** One of the 128 lengths fills a block; all others have begun the next. */
  private static final double WINDOW_TOKENS = WINDOW + Page.TOKENS - 1;

  private static final double DENSE_TOKENS = SINKS + WINDOW_TOKENS;

  private NominalBits() {}

  /** Converts the bits of a spec to the average bits of a quantized token's values. */
  static MeadRate.RateTarget target(double bits, MeadTables tables) {
    return target(bits, tables.sizes(), bytesOfSequence(tables.sizes(), tables.quantizedLayers()));
  }

  /** Does the same for a sequence that stores what it was fitted by. */
  static MeadRate.RateTarget fittedTarget(double bits, MeadSizes sizes) {
    return target(
        bits, sizes, bytesOfSequence(sizes, sizes.layers()) + PromptStatistics.bytesFor(sizes));
  }

  private static MeadRate.RateTarget target(double bits, MeadSizes sizes, double onceBytes) {
    double values = (double) sizes.layers() * sizes.kvHeads() * (sizes.keyDim() + sizes.valueDim());
    double once = Byte.SIZE * onceBytes / values;
    double quantized = (TOKENS * bits - Short.SIZE * DENSE_TOKENS - once) / (TOKENS - DENSE_TOKENS);
    return new MeadRate.RateTarget(bits, quantized);
  }

  /** Returns the bytes that do not grow with the sequence. */
  private static double bytesOfSequence(MeadSizes sizes, int quantizedLayers) {
    return SinkSlots.bytesFor(sizes, quantizedLayers, LATE_SINKS)
        + ResidualTokenStats.bytesFor(
            sizes.layers(), sizes.kvHeads(), MeadCodec.maxResidualTokens(SINKS, WINDOW));
  }
}
