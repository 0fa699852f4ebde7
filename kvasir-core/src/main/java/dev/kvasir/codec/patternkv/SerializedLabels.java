package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.SnapshotHeader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The serialized labels of a page's keys or values. A bank only grows, and each of its versions was
 * created with a block. The pages of that block contain the new patterns, each for its layer, so
 * that the pages of a sequence contain its bank once.
 *
 * <pre>
 * u8   patterns of the page's version of the bank; 0 and nothing else without labels
 * u8   new patterns, the last ones
 * u8   indices (kvHeads, 128)
 * f16  new patterns (kvHeads, new, headDim)
 * </pre>
 *
 * @param count patterns of the version
 * @param added new patterns
 * @param patterns (kvHeads, added, headDim) fp16
 */
record SerializedLabels(int count, int added, byte[] indices, short[] patterns) {
  /**
   * Returns the labels of a page.
   *
   * @param position of the page
   */
  static SerializedLabels of(PatternLabels labels, int layer, int position) {
    PatternSet bank = labels.patterns();
    boolean addsPatterns = bank.position() == position;
    return new SerializedLabels(
        bank.count(),
        addsPatterns ? bank.added() : 0,
        labels.indices().toArray(ValueLayout.JAVA_BYTE),
        addsPatterns ? bank.addedHalves(layer) : new short[0]);
  }

  static int bytes(Optional<SerializedLabels> labels) {
    return labels
        .map(some -> 2 + some.indices.length + Short.BYTES * some.patterns.length)
        .orElse(1);
  }

  static void write(Optional<SerializedLabels> labels, ByteBuffer out) {
    labels.ifPresentOrElse(some -> some.write(out), () -> out.put((byte) 0));
  }

  private void write(ByteBuffer out) {
    out.put((byte) count).put((byte) added).put(indices);
    for (short half : patterns) {
      out.putShort(half);
    }
  }

  static Optional<SerializedLabels> read(ByteBuffer in, PatternBankShape shape) {
    int count = Byte.toUnsignedInt(in.get());
    if (count == 0) {
      return Optional.empty();
    }
    int added = Byte.toUnsignedInt(in.get());
    byte[] indices = new byte[shape.kvHeads() * Page.TOKENS];
    in.get(indices);
    for (byte index : indices) {
      requireIndex(Byte.toUnsignedInt(index), count);
    }
    short[] patterns = new short[shape.kvHeads() * added * shape.headDim()];
    for (int i = 0; i < patterns.length; i++) {
      patterns[i] = in.getShort();
    }
    return Optional.of(new SerializedLabels(count, added, indices, patterns));
  }

  private static void requireIndex(int index, int count) {
    if (index >= count && index != PatternSet.NONE) {
      throw SnapshotHeader.PAGE.invalid("has pattern %d of %d".formatted(index, count));
    }
  }

  /** Returns the labels of a page with a version of its bank. */
  PatternLabels with(PatternSet version) {
    return new PatternLabels(version, MemorySegment.ofArray(indices));
  }
}
