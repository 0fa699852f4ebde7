package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.OperandPrecision;

/**
 * What a user chooses.
 *
 * @param group tokens, for keys, or channels, for values, that share a scale
 * @param blocksTogether blocks that have a division into tiers in common
 * @param lookups how attention reads pages
 */
public record MixkvqOptions(
    Thresholds thresholds,
    Salience salience,
    QuerySpan span,
    int group,
    int blocksPerGroup,
    OperandPrecision operandPrecision) {}
