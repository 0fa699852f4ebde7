package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.SnapshotHeader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The labels of a page's keys, or values, in its byte form. A bank only grows, and each of its
 * versions came with a block: the pages of that block carry what was new, each for its layer, so
 * that the pages of a sequence hold its bank once.
 *
 * <pre>
 * u8   patterns that the page's version of the bank has; 0 and nothing else without labels
 * u8   those of them that are new, the last ones
 * u8   indices (kvHeads, 128)
 * f16  new patterns (kvHeads, new, headDim)
 * </pre>
 *
 * @param fresh patterns that are new
 * @param patterns (kvHeads, fresh, headDim) halves
 */
record SerializedLabels(int count, int added, byte[] indices, short[] patterns) {
  /**
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

  /** As a page takes them. */
  PatternLabels with(PatternSet version) {
    return new PatternLabels(version, MemorySegment.ofArray(indices));
  }
}
