package dev.kvasir.methods.skvq;

import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.util.Collections;
import java.util.Comparator;
import java.util.stream.IntStream;

/** Codec of SKVQ. Every page has its own channel orders and clipped ranges. */
final class SkvqCodec implements StatelessCodec {
  private static final int TOKENS = Page.TOKENS;

  private final int kvHeads;
  private final SkvqShape shape;
  private final HeadShape head;
  private final boolean clips;
  private final OperandPrecision operandPrecision;

  SkvqCodec(int kvHeads, SkvqShape shape, boolean clips, OperandPrecision operandPrecision) {
    this.kvHeads = kvHeads;
    this.shape = shape;
    this.head = shape.head();
    this.clips = clips;
    this.operandPrecision = operandPrecision;
  }

  @Override
  public Page quantize(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    int[][] ofKeys = new int[kvHeads][];
    int[][] ofValues = new int[kvHeads][];
    for (int i = 0; i < kvHeads; i++) {
      ofKeys[i] = clipAndOrder(keys, i * TOKENS * shape.keyDim(), shape.keyDim(), shape.keyBits());
      int valuesAt = i * TOKENS * shape.valueDim();
      ofValues[i] = clipAndOrder(values, valuesAt, shape.valueDim(), shape.valueBits());
      permute(values, valuesAt, ofValues[i]);
    }
    UniformPage codes =
        UniformPage.quantize(
            memory, Collections.nCopies(kvHeads, head), operandPrecision, ofKeys, keys, values);
    return shape.reorders()
        ? new SkvqPage(memory, codes, ValueOrders.of(memory, shape, ofValues))
        : codes;
  }

  /** Clips the groups of a head and returns the channel order. */
  private int[] clipAndOrder(float[] x, int at, int channels, int bits) {
    int[] order =
        shape.reorders() ? ChannelOrder.of(x, at, channels) : ChannelOrder.identity(channels);
    for (int first = 0; clips && first < channels; first += shape.group()) {
      int end = Math.min(first + shape.group(), channels);
      new ClippedRanges(channels, order, first, end, bits).clip(x, at);
    }
    return order;
  }

  private static void permute(float[] values, int at, int[] order) {
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
  public Page deserialize(SharedArena memory, int layer, Snapshot snapshot) {
    return shape.reorders()
        ? SkvqPage.read(memory, snapshot, this)
        : UniformPage.deserialize(memory, snapshot, kvHeads, found -> head, operandPrecision);
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

  OperandPrecision operandPrecision() {
    return operandPrecision;
  }

  @Override
  public long pageBytes() {
    return (long) kvHeads * (head.bytes() + shape.orderBytes());
  }

  @Override
  public long codeBytes() {
    return (long) kvHeads * head.codeBytes();
  }

  /** Sorts the channels of a head by magnitude, so that neighbours have similar ranges. */
  static final class ChannelOrder {
    private ChannelOrder() {}

    /**
     * @param x (tokens, channels) from {@code at} on
     * @return the channels by rising magnitude; of equal ones, the earlier first
     */
    static int[] of(float[] x, int at, int channels) {
      float[] magnitudes = new float[channels];
      for (int i = 0; i < Page.TOKENS * channels; i++) {
        magnitudes[i % channels] = Math.max(magnitudes[i % channels], Math.abs(x[at + i]));
      }
      return IntStream.range(0, channels)
          .boxed()
          .sorted(Comparator.comparingDouble(channel -> magnitudes[channel]))
          .mapToInt(channel -> channel)
          .toArray();
    }

    static int[] identity(int channels) {
      return IntStream.range(0, channels).toArray();
    }
  }
}
