package dev.kvasir.methods.ranked;

import dev.kvasir.codec.OperandPrecision;

/**
 * Settings of a method with two bit widths.
 *
 * @param salient tokens of a page that get more bits
 * @param queries number of most recent queries that rank tokens
 * @param factors key factors for per-token scales; per-channel scales use none
 * @param dividesValues whether values are divided by the root of each channel's largest magnitude
 */
public record RankedSettings(
    int highBits,
    int lowBits,
    int salient,
    int queries,
    AttentionAggregation aggregation,
    KeyScaleGranularity keyGranularity,
    KeyChannelFactors factors,
    boolean dividesValues,
    OperandPrecision operandPrecision) {}
