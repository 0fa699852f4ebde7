package dev.kvasir.methods.skvq;

import dev.kvasir.codec.Page;
import dev.kvasir.page.CodeMatrix;
import dev.kvasir.page.ColumnScaledCodes;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.RowScaledCodes;
import java.util.ArrayList;
import java.util.List;

/**
 * Shape of a quantized KV head. {@link HeadShape} stores the channel order of keys; {@link
 * ValueOrders} stores that of values.
 *
 * @param group channels of a token that share a scale
 * @param reorders whether channel orders are stored
 */
record SkvqShape(
    int keyDim, int valueDim, int keyBits, int valueBits, int group, boolean reorders) {
  /** Number of channels that a byte can index. */
  private static final int BYTE_CHANNELS = 256;

  HeadShape head() {
    List<CodeMatrix> keys = new ArrayList<>();
    for (int first = 0; first < keyDim; first += group) {
      keys.add(new ColumnScaledCodes(Math.min(group, keyDim - first), Page.TOKENS, keyBits));
    }
    CodeMatrix values = new RowScaledCodes(Page.TOKENS, valueDim, valueBits, group);
    return new HeadShape(keys, reorders, values);
  }

  /** Returns the bytes of a value channel's index. */
  int channelBytes() {
    return valueDim > BYTE_CHANNELS ? Short.BYTES : 1;
  }

  /** Returns the bytes of the channel order of a head's values. */
  int orderBytes() {
    return reorders ? channelBytes() * valueDim : 0;
  }
}
