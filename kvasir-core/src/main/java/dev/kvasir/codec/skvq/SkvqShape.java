package dev.kvasir.codec.skvq;

import dev.kvasir.codec.Page;
import dev.kvasir.page.CodeMatrix;
import dev.kvasir.page.ColumnScaledCodes;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.RowScaledCodes;
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
    List<CodeMatrix> keys = new ArrayList<>();
    for (int first = 0; first < keyDim; first += group) {
      keys.add(new ColumnScaledCodes(Math.min(group, keyDim - first), Page.TOKENS, keyBits));
    }
    CodeMatrix values = new RowScaledCodes(Page.TOKENS, valueDim, valueBits, group);
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
