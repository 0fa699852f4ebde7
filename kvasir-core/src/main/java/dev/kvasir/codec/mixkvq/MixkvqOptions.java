package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;

/**
 * The options of MixKVQ.
 *
 * @param group tokens (for keys) or channels (for values) that share a scale
 * @param residual tokens that share their tiers, unless all of a prompt do
 * @param scope which tokens share their tiers
 * @param operandPrecision how attention multiplies with codes
 */
public record MixkvqOptions(
    Thresholds thresholds,
    Salience salience,
    QuerySpan span,
    int group,
    int residual,
    TierScope scope,
    OperandPrecision operandPrecision) {
  /**
   * Returns the blocks that are quantized together: the fewest that hold whole groups of tokens
   * with the same tiers.
   */
  int blocksPerGroup() {
    int tokens = residual;
    while (tokens % Page.TOKENS != 0) {
      tokens += residual;
    }
    return tokens / Page.TOKENS;
  }

  /** Returns the tokens of a slice of a page, which all have the same tiers. */
  int sliceTokens() {
    int tokens = Page.TOKENS;
    while (residual % tokens != 0) {
      tokens /= 2;
    }
    return tokens;
  }
}
