package dev.kvasir.methods.vqllm;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;

/**
 * Byte layout of a page:
 *
 * <pre>
 * codes of keys    (kvHeads, tokens, groups, stages)  u8
 * codes of values  the same
 * scales of keys   (tokens)                           half, one for all heads of a token
 * scales of values (tokens)                           half
 * </pre>
 */
record VqllmPageLayout(int kvHeads, ChannelGroups keys, ChannelGroups values, int stages) {
  static VqllmPageLayout of(CacheShape shape, int stages) {
    return new VqllmPageLayout(
        shape.kvHeads(),
        new ChannelGroups(shape.keyDim(), true),
        new ChannelGroups(shape.valueDim(), false),
        stages);
  }

  int headCodes(ChannelGroups side) {
    return Page.TOKENS * side.count() * stages;
  }

  long codesAt(ChannelGroups side, int kvHead) {
    long before = side == keys ? 0 : (long) kvHeads * headCodes(keys);
    return before + (long) kvHead * headCodes(side);
  }

  long codeBytes() {
    return (long) kvHeads * (headCodes(keys) + headCodes(values));
  }

  long scalesAt(ChannelGroups side) {
    return codeBytes() + (side == keys ? 0 : (long) Short.BYTES * Page.TOKENS);
  }

  long bytes() {
    return codeBytes() + 2L * Short.BYTES * Page.TOKENS;
  }
}
