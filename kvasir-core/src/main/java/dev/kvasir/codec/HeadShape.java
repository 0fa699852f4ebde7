package dev.kvasir.codec;

/**
 * The KV heads of a layer.
 *
 * @param keyDim channels of a key and of a query
 * @param valueDim channels of a value and of an attention output
 */
public record HeadShape(int kvHeads, int keyDim, int valueDim) {}
