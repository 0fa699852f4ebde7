package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.SnapshotHeader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Where a late sink is. Sinks are ordered as blocks are quantized.
 *
 * @param page position of its page's first token
 * @param token index on the page
 */
record SinkPosition(int layer, int page, int token) implements Comparable<SinkPosition> {
  private static final int BYTES = Short.BYTES + Integer.BYTES + 1;

  private static final Comparator<SinkPosition> ORDER =
      Comparator.comparingInt(SinkPosition::page)
          .thenComparingInt(SinkPosition::layer)
          .thenComparingInt(SinkPosition::token);

  @Override
  public int compareTo(SinkPosition other) {
    return ORDER.compare(this, other);
  }

  static long serializedBytes(List<SinkPosition> all) {
    return Short.BYTES + (long) BYTES * all.size();
  }

  /** Writes the number of sinks (u16), and of each its layer (u16), page (u32) and token (u8). */
  static void write(List<SinkPosition> all, ByteBuffer out) {
    out.putShort((short) all.size());
    for (SinkPosition sink : all) {
      out.putShort((short) sink.layer).putInt(sink.page).put((byte) sink.token);
    }
  }

  /**
   * @param layers layers of the cache
   */
  static List<SinkPosition> read(ByteBuffer in, int layers) {
    int count = Short.toUnsignedInt(in.getShort());
    List<SinkPosition> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int layer = Short.toUnsignedInt(in.getShort());
      int page = SnapshotHeader.STATE.readPosition(in);
      int token = Byte.toUnsignedInt(in.get());
      if (layer >= layers || token >= Page.TOKENS) {
        throw SnapshotHeader.STATE.invalid(
            "keeps token %d of a page of layer %d; expected tokens below %d and layers below %d"
                .formatted(token, layer, Page.TOKENS, layers));
      }
      all.add(new SinkPosition(layer, page, token));
    }
    return all;
  }
}
