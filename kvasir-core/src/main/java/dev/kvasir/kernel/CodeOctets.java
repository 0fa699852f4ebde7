package dev.kvasir.kernel;

/**
 * How eight channels of a row of codes are read at once. Their codes span at most 7 + 64 bits, so
 * {@link #BYTES} from the first one's on hold all of them, and two neighbouring ones each of them:
 *
 * <pre>
 * lane i, 32 bits   the bytes places[4i] .. places[4i + 3] of those, of which mask leaves the code
 * 2c + 1 - 2^k      (lane & mask) * power + lift, without rounding
 * </pre>
 *
 * A code stays where it lies in its lane: power takes back what its place multiplies it by.
 *
 * @param starts first byte of a row that is read for each eight // (width / 8)
 * @param places // (width, 4), 0 to {@link #BYTES} - 1
 * @param masks // (width), 0 for a channel without bits
 * @param powers // (width)
 * @param lifts // (width)
 */
public record CodeOctets(int[] starts, byte[] places, int[] masks, float[] powers, float[] lifts) {
  public static final int CHANNELS = 8;
  public static final int BYTES = 16;

  /**
   * @param offsets first bit of each channel's code // (width), as the bits
   */
  static CodeOctets of(int[] bits, int[] offsets) {
    int width = bits.length;
    CodeOctets octets =
        new CodeOctets(
            new int[width / CHANNELS],
            new byte[width * Integer.BYTES],
            new int[width],
            new float[width],
            new float[width]);
    for (int i = 0; i < width; i++) {
      octets.set(i, bits[i], offsets[i], offsets[i - i % CHANNELS]);
    }
    return octets;
  }

  private void set(int channel, int bits, int offset, int octetOffset) {
    int start = octetOffset / Byte.SIZE;
    int place = offset / Byte.SIZE - start;
    int shift = offset % Byte.SIZE;
    starts[channel / CHANNELS] = start;
    for (int i = 0; i < Integer.BYTES; i++) {
      places[channel * Integer.BYTES + i] = (byte) (place + i % Short.BYTES);
    }
    masks[channel] = (1 << bits) - 1 << shift;
    powers[channel] = Math.scalb(1f, 1 - shift);
    lifts[channel] = 1 - (1 << bits);
  }
}
