package dev.kvasir.cache;

import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.Envelope;
import dev.kvasir.codec.Form;
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
record RestForm(int length, int blocks, byte[] state, byte[][] held, ByteBuffer numbers) {
  static final int WHOLE = 1;
  static final int BY_LAYER = 2;

  private static final int HEADER_BYTES = 4 * Integer.BYTES + 1;

  /** The blocks that are not whole. */
  interface Rest {
    /** Bytes of all that {@link #write} writes. */
    long bytes();

    void write(ByteBuffer out);
  }

  static byte[] write(
      int kind, CacheSettings settings, int length, int blocks, byte[] state, Rest rest) {
    return Envelope.REST.seal(
        kind,
        HEADER_BYTES + state.length + rest.bytes(),
        out -> {
          out.putInt(length).putInt(blocks).putInt(settings.sinks());
          out.put((byte) code(settings.precision())).putInt(state.length).put(state);
          rest.write(out);
        });
  }

  static RestForm read(Form form, LayerGroups groups, CacheSettings settings) {
    boolean byLayer = !groups.holdAll() && Envelope.REST.kindOf(form) == BY_LAYER;
    return Envelope.REST.open(
        form, byLayer ? BY_LAYER : WHOLE, in -> read(in, groups, settings, byLayer));
  }

  private static RestForm read(
      ByteBuffer in, LayerGroups groups, CacheSettings settings, boolean byLayer) {
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
    long stateBytes = Integer.toUnsignedLong(in.getInt());
    if (byLayer) {
      long mostHeld = in.remaining() - stateBytes;
      if (tokens / KvCache.TOKENS_PER_PAGE * groups.shape().layers() > mostHeld) {
        throw Envelope.REST.refused("breaks off in the midst of what it says of itself");
      }
    } else {
      long numbers = DenseBlock.bytesFor(groups.shape(), tokens, settings.precision());
      Envelope.REST.requireRest(in, stateBytes + numbers);
    }
    byte[] state = new byte[(int) stateBytes];
    in.get(state);
    return new RestForm(
        length, blocks, state, byLayer ? readHeld(in, groups, settings, length, blocks) : null, in);
  }

  private static byte[][] readHeld(
      ByteBuffer in, LayerGroups groups, CacheSettings settings, int length, int blocks) {
    RestBlocks rest = new RestBlocks(groups, settings, length, blocks);
    byte[][] held = rest.readHeld(in);
    Envelope.REST.requireRest(in, rest.bytes(held));
    return held;
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
