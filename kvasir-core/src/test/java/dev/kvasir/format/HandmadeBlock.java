package dev.kvasir.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;

/**
 * A block of random codes and scales, written in byte order (the code under test iterates over
 * values), with its values computed in double.
 *
 * <p>A double holds every value exactly: the smallest step of an f16 is 2^-24, the largest
 * magnitude is 65504 * 63 * 31 &lt; 2^27, and 24 + 27 &lt; 53. The cast to float is therefore the
 * only rounding that a decoder may do.
 */
record HandmadeBlock(byte[] bytes, float[] values) {
  private static final int[] IQ4_NL_LEVELS = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113
  };

  static HandmadeBlock of(GgmlType type, Random random) {
    return new Maker(type, random).make();
  }

  private static final class Maker {
    final GgmlType type;
    final Random random;
    final ByteBuffer out;
    final int[] codes; // as stored, unsigned
    final float[] values;
    final short d;
    final short m;
    final double dValue;
    final double mValue;

    Maker(GgmlType type, Random random) {
      this.type = type;
      this.random = random;
      this.out = ByteBuffer.allocate(type.blockBytes()).order(ByteOrder.LITTLE_ENDIAN);
      this.values = new float[type.blockLength()];
      this.d = finiteHalf();
      this.m = finiteHalf();
      this.dValue = Float.float16ToFloat(d);
      this.mValue = Float.float16ToFloat(m);
      this.codes = below(1 << storedBits(), type.blockLength());
    }

    HandmadeBlock make() {
      switch (type) {
        case Q4_0 -> legacy(-8, false, false);
        case Q4_1 -> legacy(0, true, false);
        case Q5_0 -> legacy(-16, false, true);
        case Q5_1 -> legacy(0, true, true);
        case Q8_0 -> q8();
        case IQ4_NL -> table();
        case Q2_K -> q2k();
        case Q3_K -> q3k();
        case Q4_K, Q5_K -> q45k();
        case Q6_K -> q6k();
        default -> throw new IllegalArgumentException(type + " has no blocks");
      }
      if (out.hasRemaining()) {
        throw new AssertionError(type + " block has " + out.remaining() + " bytes left to write");
      }
      return new HandmadeBlock(out.array(), values);
    }

    void legacy(int bias, boolean hasMinimum, boolean hasFifthBit) {
      out.putShort(d);
      if (hasMinimum) {
        out.putShort(m);
      }
      if (hasFifthBit) {
        int bits = 0;
        for (int i = 31; i >= 0; i--) {
          bits = bits << 1 | codes[i] >> 4;
        }
        out.putInt(bits);
      }
      nibbles();
      for (int i = 0; i < 32; i++) {
        values[i] = (float) (dValue * (codes[i] + bias) + (hasMinimum ? mValue : 0));
      }
    }

    void q8() {
      out.putShort(d);
      for (int i = 0; i < 32; i++) {
        out.put((byte) codes[i]);
        values[i] = (float) (dValue * (codes[i] > 127 ? codes[i] - 256 : codes[i]));
      }
    }

    void table() {
      out.putShort(d);
      nibbles();
      for (int i = 0; i < 32; i++) {
        values[i] = (float) (dValue * IQ4_NL_LEVELS[codes[i]]);
      }
    }

    void nibbles() {
      for (int j = 0; j < 16; j++) {
        out.put((byte) (codes[j] % 16 + 16 * (codes[j + 16] % 16)));
      }
    }

    void q2k() {
      int[] scales = below(16, 16);
      int[] minimums = below(16, 16);
      for (int g = 0; g < 16; g++) {
        out.put((byte) (scales[g] + 16 * minimums[g]));
      }
      crumbs(0);
      out.putShort(d).putShort(m);
      for (int i = 0; i < 256; i++) {
        values[i] = (float) (dValue * scales[i / 16] * codes[i] - mValue * minimums[i / 16]);
      }
    }

    void q3k() {
      int[] scales = below(64, 16);
      runBits(2);
      crumbs(0);
      for (int b = 0; b < 8; b++) {
        out.put((byte) (scales[b] % 16 + 16 * (scales[b + 8] % 16)));
      }
      for (int b = 0; b < 4; b++) {
        int high = 0;
        for (int i = 3; i >= 0; i--) {
          high = high * 4 + scales[b + 4 * i] / 16;
        }
        out.put((byte) high);
      }
      out.putShort(d);
      for (int i = 0; i < 256; i++) {
        values[i] = (float) (dValue * (scales[i / 16] - 32) * (codes[i] - 4));
      }
    }

    void q45k() {
      int[] scales = below(64, 8);
      int[] minimums = below(64, 8);
      out.putShort(d).putShort(m);
      for (int g = 0; g < 4; g++) {
        out.put((byte) (scales[g] + 64 * (scales[g + 4] / 16)));
      }
      for (int g = 0; g < 4; g++) {
        out.put((byte) (minimums[g] + 64 * (minimums[g + 4] / 16)));
      }
      for (int g = 4; g < 8; g++) {
        out.put((byte) (scales[g] % 16 + 16 * (minimums[g] % 16)));
      }
      if (type == GgmlType.Q5_K) {
        runBits(4);
      }
      for (int pair = 0; pair < 256; pair += 64) {
        for (int l = pair; l < pair + 32; l++) {
          out.put((byte) (codes[l] % 16 + 16 * (codes[l + 32] % 16)));
        }
      }
      for (int i = 0; i < 256; i++) {
        values[i] = (float) (dValue * scales[i / 32] * codes[i] - mValue * minimums[i / 32]);
      }
    }

    void q6k() {
      int[] scales = below(256, 16);
      for (int half = 0; half < 256; half += 128) {
        for (int l = half; l < half + 64; l++) {
          out.put((byte) (codes[l] % 16 + 16 * (codes[l + 64] % 16)));
        }
      }
      crumbs(4);
      for (int scale : scales) {
        out.put((byte) scale);
      }
      out.putShort(d);
      for (int i = 0; i < 256; i++) {
        values[i] = (float) (dValue * (byte) scales[i / 16] * (codes[i] - 32));
      }
    }

    /** Writes two bits of four codes per byte, the codes 32 apart. */
    void crumbs(int bit) {
      for (int half = 0; half < 256; half += 128) {
        for (int l = half; l < half + 32; l++) {
          int b = 0;
          for (int i = 96; i >= 0; i -= 32) {
            b = b * 4 + (codes[l + i] >> bit) % 4;
          }
          out.put((byte) b);
        }
      }
    }

    /** Writes one bit of eight codes per byte, the codes 32 apart. */
    void runBits(int bit) {
      for (int l = 0; l < 32; l++) {
        int b = 0;
        for (int i = 224; i >= 0; i -= 32) {
          b = b * 2 + (codes[l + i] >> bit) % 2;
        }
        out.put((byte) b);
      }
    }

    int storedBits() {
      return switch (type) {
        case Q2_K -> 2;
        case Q3_K -> 3;
        case Q5_0, Q5_1, Q5_K -> 5;
        case Q6_K -> 6;
        case Q8_0 -> 8;
        default -> 4;
      };
    }

    int[] below(int bound, int count) {
      return random.ints(count, 0, bound).toArray();
    }

    short finiteHalf() {
      int exponent = random.nextInt(31); // 31 would be infinity or NaN
      return (short) (random.nextInt(2) << 15 | exponent << 10 | random.nextInt(1 << 10));
    }
  }
}
