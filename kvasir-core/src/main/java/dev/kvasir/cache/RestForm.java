package dev.kvasir.cache;

import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Envelope;
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
 *      numbers of sinks, then of tokens behind the whole blocks, block by block
 * </pre>
 *
 * @param numbers the last of these, to be read
 */
record RestForm(int length, int blocks, byte[] state, ByteBuffer numbers) {
  private static final int KIND = 1;
  private static final int HEADER_BYTES = 4 * Integer.BYTES + 1;

  /** Writes the numbers of all blocks that are not whole. */
  interface Numbers {
    void write(ByteBuffer out);
  }

  static byte[] write(
      CacheShape shape,
      CacheSettings settings,
      int length,
      int blocks,
      byte[] state,
      Numbers rows) {
    long tokens = length - (long) blocks * KvCache.TOKENS_PER_PAGE;
    long bytes = DenseBlock.bytesFor(shape, tokens, settings.precision());
    return Envelope.REST.seal(
        KIND,
        HEADER_BYTES + state.length + bytes,
        out -> {
          out.putInt(length).putInt(blocks).putInt(settings.sinks());
          out.put((byte) code(settings.precision())).putInt(state.length).put(state);
          rows.write(out);
        });
  }

  static RestForm read(byte[] form, CacheShape shape, CacheSettings settings) {
    return Envelope.REST.open(form, KIND, in -> read(in, shape, settings));
  }

  private static RestForm read(ByteBuffer in, CacheShape shape, CacheSettings settings) {
    int length = in.getInt();
    int blocks = in.getInt();
    int sinks = in.getInt();
    if (sinks != settings.sinks()) {
      throw Envelope.REST.refused(
          "has %d sinks; this cache has %d".formatted(sinks, settings.sinks()));
    }
    requirePrecision(Envelope.REST, in, settings.precision());
    long tokens = length - (long) blocks * KvCache.TOKENS_PER_PAGE;
    if (length < 0 || blocks < 0 || blocks > 0 && tokens < sinks) {
      throw Envelope.REST.refused("has %d whole blocks of %d tokens".formatted(blocks, length));
    }
    int stateBytes = in.getInt();
    long numbers = DenseBlock.bytesFor(shape, tokens, settings.precision());
    Envelope.REST.requireRest(in, Integer.toUnsignedLong(stateBytes) + numbers);
    byte[] state = new byte[stateBytes];
    in.get(state);
    return new RestForm(length, blocks, state, in);
  }

  /** Fills a block with the next numbers. */
  void fill(DenseBlock block, int tokens) {
    block.read(tokens, numbers);
  }

  static int code(Precision precision) {
    return switch (precision) {
      case F32 -> 0;
      case F16 -> 1;
      case BF16 -> 2;
    };
  }

  static void requirePrecision(Envelope envelope, ByteBuffer in, Precision precision) {
    int found = in.get();
    if (found != code(precision)) {
      throw envelope.refused(
          "has numbers of kind %d; this cache has kind %d, %s"
              .formatted(found, code(precision), precision));
    }
  }
}
