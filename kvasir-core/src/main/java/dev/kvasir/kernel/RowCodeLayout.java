package dev.kvasir.kernel;

/**
 * How the codes of a token lie where every channel has a width of its own, the same for many
 * tokens: a row of whole bytes.
 *
 * <pre>
 * bit 0   index of the token's scale, 3 bits
 * bit 3   codes of all channels in their order, 0 to 8 bits each, low bits first
 * </pre>
 *
 * A code c of k bits stands for the middle of one of 2^k equal steps around zero, {@code (2c + 1 -
 * 2^k) * half * scale}; a channel without bits for zero. As floats that is {@code (c * slope +
 * lift) * scale}, the first two operations in one.
 */
public final class RowCodeLayout {
  /** Each half of the channels is gone through in whole vectors of at most so many floats. */
  public static final int VECTOR_WIDTH = 16;

  public static final int MAX_BITS = 8;
  public static final int SCALE_BITS = 3;
  public static final int SCALES = 1 << SCALE_BITS;

  /** A row may be read to here behind its last byte. */
  public static final int OVERREAD_BYTES = 16;

  /** The index that stands for 1. */
  public static final int SCALE_OF_ONE = SCALES / 2;

  /**
   * From one scale to the next, so that they reach from a sixth to four. With thirds of octaves,
   * which reach from 0.4 to 2, vectors of unusual text are cut off: the bundled model finishes 24
   * programs of 60 at 1.5 bits, with these 53.
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
   * @param bits of each channel, a multiple of two {@link #VECTOR_WIDTH} of them
   * @param halves half of a step of each channel, with a scale of 1
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

  /** What a scale's index stands for. */
  public static float scale(int index) {
    return SCALE_VALUES[index];
  }

  /** All scales, by index; not to be changed. */
  public static float[] scales() {
    return SCALE_VALUES;
  }

  /** Channels. */
  public int width() {
    return bits.length;
  }

  public int bits(int channel) {
    return bits[channel];
  }

  public float halfStep(int channel) {
    return halfSteps[channel];
  }

  /** What a code adds to {@link #minimum}: a step, with a scale of 1. */
  public float step(int channel) {
    return 2 * halfSteps[channel];
  }

  /** What the lowest code stands for, with a scale of 1. */
  public float minimum(int channel) {
    return (1 - (1 << bits[channel])) * halfSteps[channel];
  }

  /** What a code stands for, as kernels have it. */
  public float value(int channel, int code, float scale) {
    return Math.fma(code, step(channel), minimum(channel)) * scale;
  }

  /** The first bit of a channel's code. */
  public int offset(int channel) {
    return offsets[channel];
  }

  /** Whether a channel's code lies in two bytes. */
  boolean isSplit(int channel) {
    return offsets[channel] % Byte.SIZE + bits[channel] > Byte.SIZE;
  }

  /** Zero where no channel has any bits: there is no scale either. */
  public int rowBytes() {
    return rowBytes;
  }

  /** (width), not to be changed. */
  public int[] bits() {
    return bits;
  }

  /** For who reads eight channels at once. */
  public ShuffleTables shuffleTables() {
    return shuffleTables;
  }
}
