package dev.kvasir.codec.mix;

/**
 * What a user chooses.
 *
 * @param group tokens, for keys, or channels, for values, that share a scale
 * @param blocksTogether blocks that have a division into tiers in common
 */
public record MixSettings(
    Thresholds thresholds, Salience salience, QuerySpan span, int group, int blocksTogether) {}
