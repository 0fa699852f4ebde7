package dev.kvasir.codec.skvq;

import dev.kvasir.codec.Form;
import dev.kvasir.codec.Lookups;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.util.Collections;

/** SKVQ: every page has orders of channels and clipped ranges of its own. */
final class SkvqCodec implements StatelessCodec {
  private static final int TOKENS = Page.TOKENS;

  private final int kvHeads;
  private final SkvqShape shape;
  private final HeadShape head;
  private final boolean clips;
  private final Lookups lookups;

  SkvqCodec(int kvHeads, SkvqShape shape, boolean clips, Lookups lookups) {
    this.kvHeads = kvHeads;
    this.shape = shape;
    this.head = shape.head();
    this.clips = clips;
    this.lookups = lookups;
  }

  @Override
  public Page seal(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    int[][] ofKeys = new int[kvHeads][];
    int[][] ofValues = new int[kvHeads][];
    for (int i = 0; i < kvHeads; i++) {
      ofKeys[i] = prepare(keys, i * TOKENS * shape.keyDim(), shape.keyDim(), shape.keyBits());
      int valuesAt = i * TOKENS * shape.valueDim();
      ofValues[i] = prepare(values, valuesAt, shape.valueDim(), shape.valueBits());
      order(values, valuesAt, ofValues[i]);
    }
    UniformPage codes =
        UniformPage.pack(memory, Collections.nCopies(kvHeads, head), lookups, ofKeys, keys, values);
    return shape.reorders()
        ? new SkvqPage(memory, codes, ValueOrders.of(memory, shape, ofValues))
        : codes;
  }

  /** Clips what a head's groups hold, and tells the order in which they hold it. */
  private int[] prepare(float[] x, int at, int channels, int bits) {
    int[] order =
        shape.reorders() ? ChannelOrder.of(x, at, channels) : ChannelOrder.asTheyAre(channels);
    for (int first = 0; clips && first < channels; first += shape.group()) {
      int end = Math.min(first + shape.group(), channels);
      new ClippedRanges(channels, order, first, end, bits).clip(x, at);
    }
    return order;
  }

  private static void order(float[] values, int at, int[] order) {
    float[] row = new float[order.length];
    for (int token = 0; token < TOKENS; token++) {
      int first = at + token * order.length;
      System.arraycopy(values, first, row, 0, order.length);
      for (int place = 0; place < order.length; place++) {
        values[first + place] = row[order[place]];
      }
    }
  }

  @Override
  public Page read(SharedArena memory, int layer, Form form) {
    return shape.reorders()
        ? SkvqPage.read(memory, form, this)
        : UniformPage.read(memory, form, kvHeads, found -> head, lookups);
  }

  int kvHeads() {
    return kvHeads;
  }

  SkvqShape shape() {
    return shape;
  }

  HeadShape head() {
    return head;
  }

  Lookups lookups() {
    return lookups;
  }

  @Override
  public long pageBytes() {
    return (long) kvHeads * (head.bytes() + shape.orderBytes());
  }

  @Override
  public long codeBytes() {
    return (long) kvHeads * head.codeBytes();
  }
}
