package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.nio.ByteBuffer;

/**
 * What is stored of a cache beside its whole blocks:
 *
 * <pre>
 * u32  positions
 * u32  whole blocks
 * u32  sinks that the cache keeps, filled or not
 * u8   0 for 32-bit floats, 1 for halves, 2 for bfloat16
 * u32  n, bytes of the method's state; 0 where nothing is packed
 *      state
 *      numbers of sinks, then of tokens behind the whole blocks, block by block: keys of all
 *      layers, then values
 * </pre>
 *
 * Where layers hold a window alone, before and instead of the last of these:
 *
 * <pre>
 * u8 (blocks, layers)  1 where a layer holds it, 0 where it has let go of it
 *      numbers of the layers that do, block by block: keys of a layer, then its values
 * </pre>
 *
 * @param held by block and layer; null where all layers hold all
 * @param numbers the last of these, to be read
 */
record ResidualSnapshot(
    int length, int blocks, byte[] state, byte[][] retained, ByteBuffer numbers) {
  static final int WHOLE = 1;
  static final int BY_LAYER = 2;

  private static final int HEADER_BYTES = 4 * Integer.BYTES + 1;

  /** The blocks that are not whole. */
  interface ResidualBody {
    /** Bytes of all that {@link #generate} writes. */
    long bytes();

    void write(ByteBuffer out);
  }

  static byte[] write(
      int kind, CacheConfig settings, int length, int blocks, byte[] state, ResidualBody body) {
    return SnapshotHeader.RESIDUAL.wrap(
        kind,
        HEADER_BYTES + state.length + body.bytes(),
        out -> {
          out.putInt(length).putInt(blocks).putInt(settings.sinks());
          out.put((byte) code(settings.precision())).putInt(state.length).put(state);
          body.write(out);
        });
  }

  static ResidualSnapshot read(Snapshot snapshot, LayerGroups groups, CacheConfig settings) {
    boolean byLayer = !groups.retainAll() && SnapshotHeader.RESIDUAL.kindOf(snapshot) == BY_LAYER;
    return SnapshotHeader.RESIDUAL.unwrap(
        snapshot, byLayer ? BY_LAYER : WHOLE, in -> read(in, groups, settings, byLayer));
  }

  private static ResidualSnapshot read(
      ByteBuffer in, LayerGroups groups, CacheConfig settings, boolean byLayer) {
    int length = in.getInt();
    int blocks = in.getInt();
    int sinks = in.getInt();
    if (sinks != settings.sinks()) {
      throw SnapshotHeader.RESIDUAL.invalid(
          "has %d sinks; this cache has %d".formatted(sinks, settings.sinks()));
    }
    requirePrecision(SnapshotHeader.RESIDUAL, in, settings.precision());
    long tokens = length - (long) blocks * KvCache.TOKENS_PER_PAGE;
    if (length < 0 || blocks < 0 || blocks > 0 && tokens < sinks) {
      throw SnapshotHeader.RESIDUAL.invalid(
          "has %d whole blocks of %d tokens".formatted(blocks, length));
    }
    long stateBytes = Integer.toUnsignedLong(in.getInt());
    if (byLayer) {
      long maxRetained = in.remaining() - stateBytes;
      if (tokens / KvCache.TOKENS_PER_PAGE * groups.shape().layers() > maxRetained) {
        throw SnapshotHeader.RESIDUAL.invalid("breaks off in the midst of what it says of itself");
      }
    } else {
      long numbers = DenseBlock.bytesFor(groups.shape(), tokens, settings.precision());
      SnapshotHeader.RESIDUAL.requireRemaining(in, stateBytes + numbers);
    }
    byte[] state = new byte[(int) stateBytes];
    in.get(state);
    return new ResidualSnapshot(
        length,
        blocks,
        state,
        byLayer ? readRetained(in, groups, settings, length, blocks) : null,
        in);
  }

  private static byte[][] readRetained(
      ByteBuffer in, LayerGroups groups, CacheConfig settings, int length, int blocks) {
    ResidualBlocks residual = new ResidualBlocks(groups, settings, length, blocks);
    byte[][] retained = residual.readRetained(in);
    SnapshotHeader.RESIDUAL.requireRemaining(in, residual.bytes(retained));
    return retained;
  }

  static int code(Precision precision) {
    return switch (precision) {
      case F32 -> 0;
      case F16 -> 1;
      case BF16 -> 2;
    };
  }

  static void requirePrecision(SnapshotHeader header, ByteBuffer in, Precision precision) {
    int found = in.get();
    if (found != code(precision)) {
      throw header.invalid(
          "has numbers of kind %d; this cache has kind %d, %s"
              .formatted(found, code(precision), precision));
    }
  }
}
