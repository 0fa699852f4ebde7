package dev.kvasir.cuda.formats.mead;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.kvasir.codec.mead.MeadParameters;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.kernel.NibbleRows;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.RowCodeLayout;
import java.lang.foreign.MemorySegment;

/**
 * Where the parts of a KV head are and what attention decodes them with, as MeadHead in
 * meadpages.cuh has it. A code c of k bits becomes the subnormal half {@code c / 2^(k + 14)}; its
 * value at scale 1, in units of a power of two, is that half times a factor, plus a minimum.
 */
record HeadRecord(int headDim) {
  private static final int MAX_STEPS = 8;
  private static final int CHUNKS_AT = 16;
  private static final int MAX_CHUNKS = 6;
  private static final int FREE_AT = CHUNKS_AT + 2 * MAX_CHUNKS * Integer.BYTES;
  private static final int WIDTHS_AT = FREE_AT + 16;
  private static final int PAIRS_AT = WIDTHS_AT + 2 * MeadParameters.TIERS * MAX_STEPS;
  private static final int KEY_STEPS_AT = PAIRS_AT + 64;
  private static final int QUADS = 4;
  private static final int ROWS = 8;
  private static final int BLOCK = Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;
  private static final int FACTOR_BYTES = 16;

  /** The largest subnormal half is a little less than one over this. */
  private static final float SUBNORMALS = 0x1p14f;

  private int steps() {
    return headDim / StepWidths.CHANNELS;
  }

  private int valueStepsAt() {
    return KEY_STEPS_AT + MeadParameters.TIERS * steps() * QUADS * FACTOR_BYTES;
  }

  private int keyBaseAt() {
    return valueStepsAt() + MeadParameters.TIERS * steps() * ROWS * FACTOR_BYTES;
  }

  private int valueBaseAt() {
    return keyBaseAt() + steps() * QUADS * 2 * Integer.BYTES;
  }

  private int turnsAt() {
    return valueBaseAt() + 2 * headDim * Float.BYTES;
  }

  /** Returns the distance of two tokens: an odd multiple of 32, for few conflicts of banks. */
  private int turnBytes() {
    return (steps() + 1) * QUADS * 2 * Integer.BYTES;
  }

  int bytes() {
    return turnsAt() + BLOCK * turnBytes();
  }

  /**
   * @param isFree whether keys and values are looked up by token id
   * @param units units of the mean errors of components
   */
  void put(
      MeadParameters.Head head,
      BlockLayout.Part keys,
      BlockLayout.Part values,
      boolean isFree,
      float[] units,
      RopeTable rope,
      MemorySegment to) {
    putPart(keys, 0, to);
    putPart(values, 1, to);
    to.set(JAVA_INT, FREE_AT, isFree ? 1 : 0);
    float keyUnit = unit(head, true);
    float valueUnit = unit(head, false);
    to.set(JAVA_FLOAT, FREE_AT + 4, keyUnit);
    to.set(JAVA_FLOAT, FREE_AT + 8, valueUnit);
    int[] keyChannels = keys.layout().order().channels();
    int[] valueChannels = values.layout().order().channels();
    for (int step = 0; step < steps(); step++) {
      for (int pair = 0; pair < ROWS; pair++) {
        int channel = keyChannels[step * StepWidths.CHANNELS + pair];
        to.set(JAVA_BYTE, PAIRS_AT + step * ROWS + pair, (byte) channel);
      }
    }
    for (int tier = 0; tier < MeadParameters.TIERS; tier++) {
      RowCodeLayout keyCodes = head.codes(true, tier);
      RowCodeLayout valueCodes = head.codes(false, tier);
      for (int step = 0; step < steps(); step++) {
        putKeyStep(keyCodes, keyUnit, keyChannels, tier, step, to);
        putValueStep(valueCodes, valueUnit, valueChannels, tier, step, to);
      }
    }
    putBases(head, keyChannels, valueChannels, units, to);
    putTurns(keyChannels, rope, to);
  }

  /** Writes the cosines and sines of token indices. */
  private void putTurns(int[] keyChannels, RopeTable rope, MemorySegment to) {
    for (int token = 0; token < BLOCK; token++) {
      for (int i = 0; i < headDim / 2; i++) {
        int pair = keyChannels[i / ROWS * StepWidths.CHANNELS + i % ROWS];
        int angle = token * rope.pairs() + pair;
        long at = turnsAt() + (long) token * turnBytes() + i / 2 * 8L + i % 2 * 2L;
        to.set(JAVA_SHORT, at, half(rope.cosines()[angle]));
        to.set(JAVA_SHORT, at + 4, half(rope.sines()[angle]));
      }
    }
  }

  private void putPart(BlockLayout.Part part, int side, MemorySegment to) {
    to.set(JAVA_INT, 8L * side, part.page());
    to.set(JAVA_INT, 8L * side + 4, part.at());
    int[] chunksAt = part.layout().chunksAt();
    for (int chunk = 0; chunk < chunksAt.length; chunk++) {
      long at = CHUNKS_AT + (long) Integer.BYTES * (side * MAX_CHUNKS + chunk);
      to.set(JAVA_INT, at, chunksAt[chunk]);
    }
    for (int tier = 0; tier < MeadParameters.TIERS; tier++) {
      for (int step = 0; step < steps(); step++) {
        long at = WIDTHS_AT + (long) (side * MeadParameters.TIERS + tier) * MAX_STEPS + step;
        to.set(JAVA_BYTE, at, (byte) part.layout().order().widths()[tier][step]);
      }
    }
  }

  private void putKeyStep(
      RowCodeLayout codes, float unit, int[] channels, int tier, int step, MemorySegment to) {
    for (int quad = 0; quad < QUADS; quad++) {
      long at = KEY_STEPS_AT + (long) ((tier * steps() + step) * QUADS + quad) * FACTOR_BYTES;
      for (int second = 0; second < 2; second++) {
        for (int odd = 0; odd < 2; odd++) {
          int channel = channels[step * StepWidths.CHANNELS + 8 * second + 2 * quad + odd];
          to.set(JAVA_SHORT, at + 8L * second + 2L * odd, half(factor(codes, unit, channel)));
          to.set(JAVA_SHORT, at + 8L * second + 4 + 2L * odd, half(minimum(codes, unit, channel)));
        }
      }
    }
  }

  private void putValueStep(
      RowCodeLayout codes, float unit, int[] channels, int tier, int step, MemorySegment to) {
    for (int row = 0; row < ROWS; row++) {
      long at = valueStepsAt() + (long) ((tier * steps() + step) * ROWS + row) * FACTOR_BYTES;
      for (int upper = 0; upper < 2; upper++) {
        int channel = channels[step * StepWidths.CHANNELS + 8 * upper + row];
        for (int twice = 0; twice < 2; twice++) {
          to.set(JAVA_SHORT, at + 8L * upper + 2L * twice, half(factor(codes, unit, channel)));
          to.set(JAVA_SHORT, at + 8L * upper + 4 + 2L * twice, half(minimum(codes, unit, channel)));
        }
      }
    }
  }

  /** Returns a power of two in whose units the factors of all channels are finite halves. */
  private static float unit(MeadParameters.Head head, boolean ofKeys) {
    float widest = 0;
    for (int tier = 0; tier < MeadParameters.TIERS; tier++) {
      RowCodeLayout codes = head.codes(ofKeys, tier);
      for (int channel = 0; channel < codes.width(); channel++) {
        widest = Math.max(widest, range(codes, channel));
      }
    }
    return widest == 0 ? 1 : Math.scalb(1f, Math.getExponent(widest));
  }

  /** Returns the range of a channel's codes at scale 1. */
  private static float range(RowCodeLayout codes, int channel) {
    return codes.bits(channel) == 0 ? 0 : codes.step(channel) * (1 << codes.bits(channel));
  }

  private static float factor(RowCodeLayout codes, float unit, int channel) {
    return range(codes, channel) * SUBNORMALS / unit;
  }

  /** Returns the minimum, shifted by what rounding the factor changes in the middle. */
  private static float minimum(RowCodeLayout codes, float unit, int channel) {
    if (codes.bits(channel) == 0) {
      return 0;
    }
    float factor = factor(codes, unit, channel);
    float rounded = Float.float16ToFloat(half(factor));
    float middle = 0.5f * (1 - Math.scalb(1f, -codes.bits(channel))) / SUBNORMALS;
    return codes.minimum(channel) / unit + (factor - rounded) * middle;
  }

  /** Writes the only row of each table; other kinds of tables are read by other kernels. */
  private void putBases(
      MeadParameters.Head head,
      int[] keyChannels,
      int[] valueChannels,
      float[] units,
      MemorySegment to) {
    float[] keys = firstRow(head.base(true));
    float[] values = firstRow(head.base(false));
    for (int step = 0; step < steps(); step++) {
      for (int i = 0; i < StepWidths.CHANNELS; i++) {
        int quad = i % 8 / 2;
        long at = keyBaseAt() + (step * QUADS + quad) * 8L + i / 8 * 4L + i % 2 * 2L;
        to.set(JAVA_SHORT, at, half(keys[keyChannels[step * StepWidths.CHANNELS + i]]));
      }
    }
    for (int slot = 0; slot < headDim; slot++) {
      long at = valueBaseAt() + (long) Float.BYTES * slot;
      to.set(JAVA_FLOAT, at, values[valueChannels[slot]]);
      to.set(JAVA_FLOAT, at + (long) Float.BYTES * headDim, units[valueChannels[slot]]);
    }
  }

  private static float[] firstRow(NibbleRows rows) {
    float[] row = new float[rows.width()];
    rows.dequantize(0, row, 0);
    return row;
  }

  private static short half(float x) {
    return Float.floatToFloat16(x);
  }
}
