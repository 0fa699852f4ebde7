package dev.kvasir.lab.mead;

import java.io.Serializable;

/**
 * Sums of keys and values of one text. All but the vectors are empty if the text does not
 * contribute.
 *
 * @param tokens number of counted tokens
 * @param ids distinct ids of the counted tokens, ascending; empty if there are no sums by id
 * @param sums by layer: (ids, width of {@link TokenKvLayout}), sum over the tokens of an id
 * @param totals by layer: (width), sum over all counted tokens
 * @param updates by layer: (hidden), attention output summed over counted tokens
 * @param vectors by layer: (tokens, width); empty if not retained
 * @param attentionMass by layer: (tokens, kvHeads), received attention; empty if not retained
 */
record TextStatistics(
    int tokens,
    int[] ids,
    float[][] sums,
    double[][] totals,
    double[][] updates,
    float[][] vectors,
    float[][] attentionMass)
    implements Serializable {}
