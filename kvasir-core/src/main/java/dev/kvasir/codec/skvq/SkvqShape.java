package dev.kvasir.codec.skvq;

import dev.kvasir.codec.Page;
import dev.kvasir.page.CodeGrid;
import dev.kvasir.page.EntryScaledCodes;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.LaneScaledCodes;
import java.util.ArrayList;
import java.util.List;

/**
 * What a KV head is packed to. Its grids of keys have an order of channels of their own, as {@link
 * HeadShape} has it; that of its values lies beside them.
 *
 * @param group channels of a token that share a scale
 * @param reorders whether orders of channels are stored
 */
record SkvqShape(
    int keyDim, int valueDim, int keyBits, int valueBits, int group, boolean reorders) {
  /** Channels that a byte tells apart. */
  private static final int BYTE_CHANNELS = 256;

  HeadShape head() {
    List<CodeGrid> keys = new ArrayList<>();
    for (int first = 0; first < keyDim; first += group) {
      keys.add(new LaneScaledCodes(Math.min(group, keyDim - first), Page.TOKENS, keyBits));
    }
    CodeGrid values = new EntryScaledCodes(Page.TOKENS, valueDim, valueBits, group);
    return new HeadShape(keys, reorders, values);
  }

  /** Bytes that tell a channel of values. */
  int channelBytes() {
    return valueDim > BYTE_CHANNELS ? Short.BYTES : 1;
  }

  /** Bytes of the order of a head's values. */
  int orderBytes() {
    return reorders ? channelBytes() * valueDim : 0;
  }
}
