package dev.kvasir.cuda.formats.commvq;

import dev.kvasir.codec.commvq.ValueEncoder;
import java.util.List;
import java.util.Optional;

/** Sizes of values that a network encodes, as in bits.cuh and network.cuh. */
final class NetworkLayout {
  /** Bytes of a warp's sums: 16 tiles of 16 bits for four heads. */
  static final int WARP_BYTES = 4096;

  private static final int WARP_TILES = 16;
  private static final int MAX_SHARING_WARPS = 8;
  private static final int TILE_BITS = 16;
  private static final int MAX_WIDTH = 4096;
  private static final int WIDTH_STEP = 64;

  private NetworkLayout() {}

  /**
   * Returns the layout of value tables, which begin with u32 tiles of 16 bits and u32 warps that
   * share them.
   *
   * @param bits bits of a token
   */
  static ValueTableLayout values(int headDim, int bits) {
    int tiles = bits / TILE_BITS;
    int warps = 1;
    while (warps < MAX_SHARING_WARPS && warps * WARP_TILES < tiles) {
      warps *= 2;
    }
    return new ValueTableLayout(headDim, bits, List.of(tiles, warps));
  }

  /** Returns why a network cannot encode on a device; empty if it can. */
  static Optional<String> unsupported(ValueEncoder encoder, int bits) {
    int width = encoder.width();
    if (encoder.bits() != bits * width || encoder.bits() > MAX_WIDTH) {
      return Optional.of(
          "has a network of %d bits for %d channels; on a device expected %d, and at most %d"
              .formatted(encoder.bits(), width, bits * width, MAX_WIDTH));
    }
    if (encoder.hidden() % WIDTH_STEP != 0) {
      return Optional.of(
          "has a network with %d hidden numbers; on a device expected a multiple of %d"
              .formatted(encoder.hidden(), WIDTH_STEP));
    }
    return Optional.empty();
  }
}
