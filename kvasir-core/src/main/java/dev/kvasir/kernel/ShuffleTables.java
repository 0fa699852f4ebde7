package dev.kvasir.kernel;

/**
 * How eight channels of a row of codes are read at once. Their codes span at most 7 + 64 bits, so
 * {@link #Q8_0} from the first one's on hold all of them, and two neighbouring ones each of them:
 *
 * <pre>
 * lane i, 32 bits   the bytes places[4i] .. places[4i + 3] of those, of which mask leaves the code
 * c * slope + lift  (lane & mask) * slopes[i] + lifts[i]
 * </pre>
 *
 * A code stays where it lies in its lane: slopes take back what its place multiplies it by.
 *
 * @param starts first byte of a row that is read for each eight // (width / 8)
 * @param places // (width, 4), 0 to {@link #Q8_0} - 1
 * @param masks // (width), 0 for a channel without bits
 * @param slopes // (width)
 * @param lifts // (width)
 */
public record ShuffleTables(
    int[] starts, byte[] shuffles, int[] masks, float[] steps, float[] minimums) {
  public static final int CHANNELS = 8;
  public static final int BYTES = 16;

  static ShuffleTables of(RowCodeLayout layout) {
    int width = layout.width();
    ShuffleTables shuffleTables =
        new ShuffleTables(
            new int[width / CHANNELS],
            new byte[width * Integer.BYTES],
            new int[width],
            new float[width],
            new float[width]);
    for (int i = 0; i < width; i++) {
      shuffleTables.set(i, layout);
    }
    return shuffleTables;
  }

  private void set(int channel, RowCodeLayout layout) {
    int start = layout.offset(channel - channel % CHANNELS) / Byte.SIZE;
    int place = layout.offset(channel) / Byte.SIZE - start;
    int shift = layout.offset(channel) % Byte.SIZE;
    starts[channel / CHANNELS] = start;
    for (int i = 0; i < Integer.BYTES; i++) {
      shuffles[channel * Integer.BYTES + i] = (byte) (place + i % Short.BYTES);
    }
    masks[channel] = (1 << layout.bits(channel)) - 1 << shift;
    steps[channel] = Math.scalb(layout.step(channel), -shift);
    minimums[channel] = layout.minimum(channel);
  }
}
