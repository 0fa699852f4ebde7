package dev.kvasir.codec.ranked;

import dev.kvasir.codec.OperandPrecision;

/**
 * What a method makes of the tokens of a page.
 *
 * @param salient tokens of a page that have more bits
 * @param queries the most recent ones, by which tokens are ranked
 * @param factors of keys by token; those by channel have none
 * @param dividesValues whether values by token are divided by the root of a channel's largest
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
