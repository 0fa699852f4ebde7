package dev.kvasir.stored;

import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * A block of a cache together with its tokens:
 *
 * <pre>
 * 32 bytes  the hash chain before its tokens, which starts with the identity
 * u32       index of its first token in the text
 * u32       n, its tokens: 128, and sinks before them in the first block
 * i32 (n)   tokens
 *           the block, as the cache wrote it
 * </pre>
 *
 * Its name is the SHA-256 of all these bytes. Two texts with a common prefix share a block only if
 * it is bit-identical.
 *
 * @param chain (32)
 * @param cached as returned by {@link dev.kvasir.cache.CacheSnapshot#block}
 */
record StoredBlock(byte[] chain, int first, int[] tokens, Snapshot cached) {
  private static final int KIND = 1;

  byte[] toBytes() {
    long bytes = Sha256.BYTES + 2 * Integer.BYTES + 4L * tokens.length + cached.size();
    return SnapshotHeader.STORED_BLOCK.wrap(
        KIND,
        bytes,
        out -> {
          out.put(chain).putInt(first);
          IntArrays.write(tokens, out);
          out.put(cached.bytes());
        });
  }

  static StoredBlock read(Snapshot snapshot) {
    return SnapshotHeader.STORED_BLOCK.unwrap(snapshot, KIND, StoredBlock::read);
  }

  private static StoredBlock read(ByteBuffer in) {
    byte[] chain = new byte[Sha256.BYTES];
    in.get(chain);
    int first = SnapshotHeader.STORED_BLOCK.readPosition(in);
    int[] tokens = IntArrays.read(SnapshotHeader.STORED_BLOCK, in);
    return new StoredBlock(chain, first, tokens, Snapshot.nested(in));
  }

  /**
   * Returns its contents; rejects a block of other tokens.
   *
   * @param expected the hash chain before the tokens
   * @param text the text whose tokens from {@code from} to {@code to} must match
   */
  Snapshot of(byte[] expected, int[] text, int from, int to) {
    if (!Arrays.equals(chain, expected)
        || first != from
        || !Arrays.equals(tokens, 0, tokens.length, text, from, to)) {
      throw SnapshotHeader.STORED_BLOCK.invalid(
          "is of tokens %d to %d of another text or cache".formatted(first, first + tokens.length));
    }
    return cached;
  }

  /** Returns the name of a block with these bytes. */
  static String name(byte[] bytes) {
    return HexFormat.of().formatHex(new Sha256().add(bytes).finish());
  }
}
