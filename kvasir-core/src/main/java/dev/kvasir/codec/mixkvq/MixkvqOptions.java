package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.OperandPrecision;

/**
 * The options of MixKVQ.
 *
 * @param group tokens (for keys) or channels (for values) that share a scale
 * @param blocksPerGroup blocks that share their tiers
 * @param operandPrecision how attention multiplies with codes
 */
public record MixkvqOptions(
    Thresholds thresholds,
    Salience salience,
    QuerySpan span,
    int group,
    int blocksPerGroup,
    OperandPrecision operandPrecision) {}
