package dev.kvasir.codec.commvq;

/**
 * A page's keys, or values, as codes.
 *
 * @param codes // (kvHeads, tokens, stages)
 * @param scales halves // (tokens)
 */
record EncodedBlock(short[] codes, short[] scales) {}
