package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.nio.ByteBuffer;

/**
 * The stored part of a cache other than its whole blocks:
 *
 * <pre>
 * u32  positions
 * u32  whole blocks
 * u32  number of sinks, filled or not
 * u8   0 for 32-bit floats, 1 for halves, 2 for bfloat16
 * u32  n, bytes of the method's state; 0 if nothing is quantized
 *      state
 *      numbers of sinks, then of tokens after the whole blocks, block by block: keys of all
 *      layers, then values
 * </pre>
 *
 * With sliding-window layers, the last item is replaced by:
 *
 * <pre>
 * u8 (blocks, layers)  1 if a layer retains it, 0 if it was evicted
 *      numbers of retaining layers, block by block: keys of a layer, then its values
 * </pre>
 *
 * @param retained by block and layer; null if all layers retain everything
 * @param numbers the last item, to be read
 */
record ResidualSnapshot(
    int length, int blocks, byte[] state, byte[][] retained, ByteBuffer numbers) {
  static final int WHOLE = 1;
  static final int BY_LAYER = 2;

  private static final int HEADER_BYTES = 4 * Integer.BYTES + 1;

  /** The blocks that are not whole. */
  interface ResidualBody {
    /** Returns the number of bytes that {@link #write} writes. */
    long bytes();

    void write(ByteBuffer out);
  }

  static byte[] write(
      int kind, CacheConfig config, int length, int blocks, byte[] state, ResidualBody body) {
    return SnapshotHeader.RESIDUAL.wrap(
        kind,
        HEADER_BYTES + state.length + body.bytes(),
        out -> {
          out.putInt(length).putInt(blocks).putInt(config.sinks());
          out.put((byte) code(config.precision())).putInt(state.length).put(state);
          body.write(out);
        });
  }

  static ResidualSnapshot read(Snapshot snapshot, LayerGroups groups, CacheConfig config) {
    boolean byLayer = !groups.retainAll() && SnapshotHeader.RESIDUAL.kindOf(snapshot) == BY_LAYER;
    return SnapshotHeader.RESIDUAL.unwrap(
        snapshot, byLayer ? BY_LAYER : WHOLE, in -> read(in, groups, config, byLayer));
  }

  private static ResidualSnapshot read(
      ByteBuffer in, LayerGroups groups, CacheConfig config, boolean byLayer) {
    int length = in.getInt();
    int blocks = in.getInt();
    int sinks = in.getInt();
    if (sinks != config.sinks()) {
      throw SnapshotHeader.RESIDUAL.invalid(
          "has %d sinks; this cache has %d".formatted(sinks, config.sinks()));
    }
    requirePrecision(SnapshotHeader.RESIDUAL, in, config.precision());
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
      long numbers = DenseBlock.bytesFor(groups.shape(), tokens, config.precision());
      SnapshotHeader.RESIDUAL.requireRemaining(in, stateBytes + numbers);
    }
    byte[] state = new byte[(int) stateBytes];
    in.get(state);
    return new ResidualSnapshot(
        length,
        blocks,
        state,
        byLayer ? readRetained(in, groups, config, length, blocks) : null,
        in);
  }

  private static byte[][] readRetained(
      ByteBuffer in, LayerGroups groups, CacheConfig config, int length, int blocks) {
    ResidualBlocks residual = new ResidualBlocks(groups, config, length, blocks);
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
