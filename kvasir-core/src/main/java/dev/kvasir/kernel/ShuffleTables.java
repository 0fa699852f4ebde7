package dev.kvasir.kernel;

/**
 * Tables for reading eight channels of a row of codes at once with a byte shuffle. Eight codes span
 * at most 7 + 64 bits, so {@link #BYTES} bytes from the first one on hold all of them. Each code
 * spans at most two adjacent bytes:
 *
 * <pre>
 * lane i, 32 bits       the bytes shuffles[4i] .. shuffles[4i + 3]; the mask leaves the code
 * c * step + minimum    (lane &amp; mask) * steps[i] + minimums[i]
 * </pre>
 *
 * A code is not shifted within its lane; {@code steps} compensate for its position.
 *
 * @param starts first byte that is read for each eight channels // (width / 8)
 * @param shuffles // (width, 4), 0 to {@link #BYTES} - 1
 * @param masks // (width), 0 for a channel without bits
 * @param steps // (width)
 * @param minimums // (width)
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
