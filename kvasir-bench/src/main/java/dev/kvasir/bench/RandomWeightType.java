package dev.kvasir.bench;

import dev.kvasir.error.InvalidInputException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Random weights around zero, scaled to preserve the magnitude of activations, so that a model
 * computes with finite numbers.
 */
enum RandomWeightType {
  /** f16 scale, 32 codes of 8 bits. */
  Q8_0(8, 32, 34) {
    @Override
    void fill(ByteBuffer out, int inputs, byte[] random) {
      float spread = 73.6f; // of codes from -128 to 127
      out.putShort(Float.floatToFloat16((float) (1 / (spread * Math.sqrt(inputs)))));
      out.put(random, 0, 32);
    }
  },

  /** f16 scale of scales, f16 scale of minima, 12 bytes of both, 256 codes of 4 bits. */
  Q4_K(12, 256, 144) {
    @Override
    void fill(ByteBuffer out, int inputs, byte[] random) {
      float scale = (float) (1 / (31.5f * 4.6f * Math.sqrt(inputs)));
      out.putShort(Float.floatToFloat16(scale)).putShort(Float.floatToFloat16(7.5f * scale));
      out.put(random, 0, 12 + 128);
    }
  },

  /** 256 codes of 6 bits, 16 scales of 8 bits, f16 scale of scales. */
  Q6_K(14, 256, 210) {
    @Override
    void fill(ByteBuffer out, int inputs, byte[] random) {
      out.put(random, 0, 128 + 64 + 16);
      float spread = 73.9f * 18.5f; // of scales from -128 to 127, and of codes from -32 to 31
      out.putShort(Float.floatToFloat16((float) (1 / (spread * Math.sqrt(inputs)))));
    }
  },

  F16(1, 32, 64) {
    @Override
    void fill(ByteBuffer out, int inputs, byte[] random) {
      for (int i = 0; i < 32; i++) {
        out.putShort(Float.floatToFloat16(uniform(random, i, inputs)));
      }
    }
  },

  BF16(30, 32, 64) {
    @Override
    void fill(ByteBuffer out, int inputs, byte[] random) {
      for (int i = 0; i < 32; i++) {
        out.putShort((short) (Float.floatToRawIntBits(uniform(random, i, inputs)) >> 16));
      }
    }
  };

  private static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

  final int ggmlType;
  final int blockValues;
  final int blockBytes;

  RandomWeightType(int ggmlType, int blockValues, int blockBytes) {
    this.ggmlType = ggmlType;
    this.blockValues = blockValues;
    this.blockBytes = blockBytes;
  }

  /** Writes one block. */
  abstract void fill(ByteBuffer out, int inputs, byte[] random);

  /** Returns a number between the bounds whose spread is that of one in the root of the inputs. */
  private static float uniform(byte[] random, int index, int inputs) {
    short any = (short) SHORTS.get(random, Short.BYTES * index);
    return any * (float) (Math.sqrt(3.0 / inputs) / (1 << 15));
  }

  long bytes(long values) {
    return values / blockValues * blockBytes;
  }

  /** Returns a row of blocks. */
  ByteBuffer row(int inputs, SplittableRandom random) {
    ByteBuffer row = ByteBuffer.allocate((int) bytes(inputs)).order(ByteOrder.LITTLE_ENDIAN);
    byte[] bits = new byte[blockBytes];
    while (row.hasRemaining()) {
      random.nextBytes(bits);
      fill(row, inputs, bits);
    }
    return row.flip();
  }

  static RandomWeightType of(String typed) {
    return Arrays.stream(values())
        .filter(type -> type.name().equalsIgnoreCase(typed))
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "--type is '%s'; expected one of %s"
                        .formatted(typed, Arrays.toString(values()).toLowerCase(Locale.ROOT))));
  }
}
