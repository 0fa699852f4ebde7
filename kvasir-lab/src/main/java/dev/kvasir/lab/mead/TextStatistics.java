package dev.kvasir.lab.mead;

import java.io.Serializable;

/**
 * What the layers attended with in one text.
 *
 * @param ids of the tokens that count, ascending, each once
 * @param sums by layer: (ids, width of {@link TokenKvLayout}), over all tokens of an id
 * @param updates by layer: (hidden), what attention gave, over all tokens that count
 * @param vectors by layer: (tokens, width); empty where they are not kept
 * @param received by layer: (tokens, kvHeads), attention; empty where it is not kept
 */
record TextStatistics(
    int[] ids, float[][] sums, double[][] updates, float[][] vectors, float[][] attentionMass)
    implements Serializable {}
