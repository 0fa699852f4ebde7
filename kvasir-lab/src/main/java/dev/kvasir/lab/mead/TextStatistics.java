package dev.kvasir.lab.mead;

import java.io.Serializable;

/**
 * Keys and values of one text, summed by token id.
 *
 * @param ids distinct ids of the counted tokens, ascending
 * @param sums by layer: (ids, width of {@link TokenKvLayout}), sum over the tokens of an id
 * @param updates by layer: (hidden), attention output summed over counted tokens
 * @param vectors by layer: (tokens, width); empty if not retained
 * @param attentionMass by layer: (tokens, kvHeads), received attention; empty if not retained
 */
record TextStatistics(
    int[] ids, float[][] sums, double[][] updates, float[][] vectors, float[][] attentionMass)
    implements Serializable {}
