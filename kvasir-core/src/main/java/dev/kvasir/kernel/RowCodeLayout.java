package dev.kvasir.kernel;

/**
 * The layout of a token's codes when every channel has its own width, shared by many tokens: a row
 * of whole bytes.
 *
 * <pre>
 * bit 0   index of the token's scale, 3 bits
 * bit 3   codes of all channels in their order, 0 to 8 bits each, low bits first
 * </pre>
 *
 * A code c of k bits is the middle of one of 2^k equal steps around zero, {@code (2c + 1 - 2^k) *
 * halfStep * scale}; a channel without bits is zero. As floats that is {@code (c * step + minimum)
 * * scale}, with the first two operations fused.
 */
public final class RowCodeLayout {
  /** Each half of the channels is processed in whole vectors of up to this many floats. */
  public static final int VECTOR_WIDTH = 16;

  public static final int MAX_BITS = 8;
  public static final int SCALE_BITS = 3;
  public static final int SCALES = 1 << SCALE_BITS;

  /** Kernels may read this many bytes beyond the end of a row. */
  public static final int OVERREAD_BYTES = 16;

  /** The index of scale 1. */
  public static final int SCALE_OF_ONE = SCALES / 2;

  /**
   * The ratio of neighbouring scales, so that they range from 1/6 to 4. With a third of an octave,
   * a range from 0.4 to 2, vectors of unusual text are clipped: the bundled model then finishes 24
   * of 60 programs at 1.5 bits, instead of 53.
   */
  public static final double OCTAVES = 2.0 / 3;

  private static final float[] SCALE_VALUES = new float[SCALES];

  static {
    for (int i = 0; i < SCALES; i++) {
      SCALE_VALUES[i] = (float) Math.pow(2, (i - SCALE_OF_ONE) * OCTAVES);
    }
  }

  private final int[] bits; // (width)
  private final int[] offsets; // (width), the first bit of each code
  private final float[] halfSteps; // (width)
  private final ShuffleTables shuffleTables;
  private final int rowBytes;

  /**
   * @param bits of each channel; their number is a multiple of two {@link #VECTOR_WIDTH}
   * @param halfSteps half of a step of each channel, at scale 1
   */
  public RowCodeLayout(int[] bits, float[] halfSteps) {
    if (bits.length % (2 * VECTOR_WIDTH) != 0 || halfSteps.length != bits.length) {
      throw new IllegalArgumentException(
          "%d widths, %d steps; expected as many, a multiple of %d"
              .formatted(bits.length, halfSteps.length, 2 * VECTOR_WIDTH));
    }
    this.bits = bits.clone();
    this.halfSteps = halfSteps.clone();
    this.offsets = new int[bits.length];
    int at = SCALE_BITS;
    for (int i = 0; i < bits.length; i++) {
      if (bits[i] < 0 || bits[i] > MAX_BITS) {
        throw new IllegalArgumentException(
            "width is %d; expected 0 to %d".formatted(bits[i], MAX_BITS));
      }
      offsets[i] = at;
      at += bits[i];
      if (bits[i] == 0) {
        this.halfSteps[i] = 0;
      }
    }
    this.rowBytes = at == SCALE_BITS ? 0 : Math.ceilDiv(at, Byte.SIZE);
    this.shuffleTables = ShuffleTables.of(this);
  }

  public static float scale(int index) {
    return SCALE_VALUES[index];
  }

  /** Returns all scales by index; callers must not change them. */
  public static float[] scales() {
    return SCALE_VALUES;
  }

  public int width() {
    return bits.length;
  }

  public int bits(int channel) {
    return bits[channel];
  }

  public float halfStep(int channel) {
    return halfSteps[channel];
  }

  /** Returns the distance of two codes, at scale 1. */
  public float step(int channel) {
    return 2 * halfSteps[channel];
  }

  /** Returns the value of the lowest code, at scale 1. */
  public float minimum(int channel) {
    return (1 - (1 << bits[channel])) * halfSteps[channel];
  }

  /** Returns the value of a code, with the kernels' rounding. */
  public float value(int channel, int code, float scale) {
    return Math.fma(code, step(channel), minimum(channel)) * scale;
  }

  /** Returns the first bit of a channel's code. */
  public int offset(int channel) {
    return offsets[channel];
  }

  /** Returns whether a channel's code spans two bytes. */
  boolean isSplit(int channel) {
    return offsets[channel] % Byte.SIZE + bits[channel] > Byte.SIZE;
  }

  /**
   * Returns the bytes of a row; zero if no channel has bits, since then there is no scale either.
   */
  public int rowBytes() {
    return rowBytes;
  }

  /** Returns the bits of each channel; callers must not change them. */
  public int[] bits() {
    return bits;
  }

  /** Returns the tables for kernels that read eight channels at once. */
  public ShuffleTables shuffleTables() {
    return shuffleTables;
  }
}
