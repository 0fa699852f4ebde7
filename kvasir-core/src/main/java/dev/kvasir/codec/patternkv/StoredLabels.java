package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Page;
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
record StoredLabels(int count, int fresh, byte[] indices, short[] patterns) {
  /**
   * @param position of the page
   */
  static StoredLabels of(Labels labels, int layer, int position) {
    Patterns bank = labels.patterns();
    boolean brings = bank.position() == position;
    return new StoredLabels(
        bank.count(),
        brings ? bank.added() : 0,
        labels.indices().toArray(ValueLayout.JAVA_BYTE),
        brings ? bank.addedHalves(layer) : new short[0]);
  }

  static int bytes(Optional<StoredLabels> labels) {
    return labels
        .map(some -> 2 + some.indices.length + Short.BYTES * some.patterns.length)
        .orElse(1);
  }

  static void write(Optional<StoredLabels> labels, ByteBuffer out) {
    labels.ifPresentOrElse(some -> some.write(out), () -> out.put((byte) 0));
  }

  private void write(ByteBuffer out) {
    out.put((byte) count).put((byte) fresh).put(indices);
    for (short half : patterns) {
      out.putShort(half);
    }
  }

  static Optional<StoredLabels> read(ByteBuffer in, PatternkvShape shape) {
    int count = Byte.toUnsignedInt(in.get());
    if (count == 0) {
      return Optional.empty();
    }
    int fresh = Byte.toUnsignedInt(in.get());
    byte[] indices = new byte[shape.kvHeads() * Page.TOKENS];
    in.get(indices);
    for (byte index : indices) {
      requireIndex(Byte.toUnsignedInt(index), count);
    }
    short[] patterns = new short[shape.kvHeads() * fresh * shape.headDim()];
    for (int i = 0; i < patterns.length; i++) {
      patterns[i] = in.getShort();
    }
    return Optional.of(new StoredLabels(count, fresh, indices, patterns));
  }

  private static void requireIndex(int index, int count) {
    if (index >= count && index != Patterns.NONE) {
      throw Envelope.PAGE.refused("has pattern %d of %d".formatted(index, count));
    }
  }

  /** As a page takes them. */
  Labels with(Patterns version) {
    return new Labels(version, MemorySegment.ofArray(indices));
  }
}
