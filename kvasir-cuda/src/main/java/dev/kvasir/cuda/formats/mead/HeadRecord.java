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
 * meadpages.cuh has it. A code of a key, as far as it is a fraction of its width, times a factor is
 * its value at scale 1 in units of a power of two, plus a minimum.
 */
record HeadRecord(int headDim) {
  private static final int MAX_STEPS = 8;
  private static final int CHUNKS_AT = 16;
  private static final int CHUNK_BYTES = 2 * Integer.BYTES;
  private static final int PART_BYTES_AT = CHUNKS_AT + 2 * PartLayout.CHUNKS * CHUNK_BYTES;
  private static final int FREE_AT = PART_BYTES_AT + 2 * Integer.BYTES;
  private static final int WIDTHS_AT = FREE_AT + 8;
  private static final int KEY_UNIT_AT = WIDTHS_AT + 2 * MeadParameters.TIERS * Integer.BYTES;
  private static final int PAIRS_AT = KEY_UNIT_AT + 8;
  private static final int KEYS_AT = PAIRS_AT + 64;
  private static final int QUADS = 4;
  private static final int ROWS = 8;
  private static final int BLOCK = Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;
  private static final int KEY_BYTES = 16;
  private static final int VALUE_BYTES = 2 * Float.BYTES;

  /** Of codes that become halves and are rotated; queries have the rest. */
  private static final float ROTATED_FACTOR = 0x1p14f;

  /** Of queries that are multiplied with codes: the same less what halves of codes lack. */
  private static final float LINEAR_FACTOR = 0x1p6f;

  /** The first tile's codes of values: 2^-24 each, times a factor of their weights of 8. */
  private static final float VALUE_FACTOR = 0x1p21f;

  /** Codes of means, 2^-24 each, times weights over 64. */
  private static final float MEAN_FACTOR = 0x1p30f;

  /** The code of a mean error of zero. */
  private static final int MEAN_ZERO = 8;

  private int steps() {
    return headDim / StepWidths.CHANNELS;
  }

  private int valueStepsAt() {
    return KEYS_AT + MeadParameters.TIERS * steps() * 2 * QUADS * KEY_BYTES;
  }

  private int valueMinimaAt() {
    return valueStepsAt() + MeadParameters.TIERS * steps() * ROWS * VALUE_BYTES;
  }

  private int valueBaseAt() {
    return valueMinimaAt() + MeadParameters.TIERS * steps() * ROWS * VALUE_BYTES;
  }

  private int unitsAt() {
    return valueBaseAt() + steps() * ROWS * VALUE_BYTES;
  }

  private int turnsAt() {
    return unitsAt() + steps() * ROWS * VALUE_BYTES;
  }

  /** Returns the distance of two tokens: an odd multiple of 16, so that eight are in all banks. */
  private int turnBytes() {
    return steps() * StepWidths.CHANNELS * Short.BYTES + 16;
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
    StepWidths keyOrder = keys.layout().order();
    putPart(keys, 0, to);
    putPart(values, 1, to);
    to.set(JAVA_INT, FREE_AT, isFree ? 1 : 0);
    to.set(JAVA_INT, FREE_AT + 4, keyOrder.rotatedSteps());
    to.set(JAVA_FLOAT, KEY_UNIT_AT, keyUnit(head));
    int[] channels = keyOrder.channels();
    for (int step = 0; step < steps(); step++) {
      for (int pair = 0; pair < ROWS; pair++) {
        int channel = channels[step * StepWidths.CHANNELS + pair];
        to.set(JAVA_BYTE, PAIRS_AT + step * ROWS + pair, (byte) channel);
      }
    }
    putKeys(head, keyOrder, LinearRotations.of(rope, headDim), to);
    putValues(head, values.layout().order(), units, to);
    putTurns(channels, rope, to);
  }

  /** Writes the cosines and sines of token indices. */
  private void putTurns(int[] channels, RopeTable rope, MemorySegment to) {
    for (int token = 0; token < BLOCK; token++) {
      for (int i = 0; i < headDim / 2; i++) {
        int pair = channels[i / ROWS * StepWidths.CHANNELS + i % ROWS];
        int slot = i / ROWS * StepWidths.CHANNELS + i % ROWS;
        long at = turnsAt() + (long) token * turnBytes() + (long) slot * Short.BYTES;
        to.set(JAVA_SHORT, at, half(LinearRotations.cosine(rope, token, pair)));
        to.set(JAVA_SHORT, at + ROWS * Short.BYTES, half(LinearRotations.sine(rope, token, pair)));
      }
    }
  }

  private void putPart(BlockLayout.Part part, int side, MemorySegment to) {
    to.set(JAVA_INT, 8L * side, part.page());
    to.set(JAVA_INT, 8L * side + 4, part.at());
    int[] chunksAt = part.layout().chunksAt();
    for (int chunk = 0; chunk < PartLayout.CHUNKS; chunk++) {
      long at = CHUNKS_AT + (long) CHUNK_BYTES * (side * PartLayout.CHUNKS + chunk);
      to.set(JAVA_INT, at, chunksAt[chunk]);
      to.set(JAVA_INT, at + Integer.BYTES, chunksAt[chunk + 1] - chunksAt[chunk]);
    }
    to.set(JAVA_INT, PART_BYTES_AT + (long) Integer.BYTES * side, part.layout().bytes());
    StepWidths order = part.layout().order();
    for (int tier = 0; tier < MeadParameters.TIERS; tier++) {
      int all = 0;
      for (int step = 0; step < steps(); step++) {
        boolean isLast = tier == MeadParameters.TIERS - 1;
        all |= (isLast ? order.wider(step) : order.widths()[tier][step]) << 4 * step;
      }
      to.set(
          JAVA_INT, WIDTHS_AT + (long) (side * MeadParameters.TIERS + tier) * Integer.BYTES, all);
    }
  }

  private void putKeys(
      MeadParameters.Head head, StepWidths order, LinearRotations rotations, MemorySegment to) {
    float unit = keyUnit(head);
    float[] predictions = firstRow(head.base(true));
    int[] channels = order.channels();
    for (int tier = 0; tier < MeadParameters.TIERS; tier++) {
      RowCodeLayout codes = head.codes(true, tier);
      for (int slot = 0; slot < headDim; slot += slot % ROWS == ROWS - 1 ? ROWS + 1 : 1) {
        int step = slot / StepWidths.CHANNELS;
        int x = channels[slot];
        int y = channels[slot + ROWS];
        boolean isRotated = step < order.rotatedSteps();
        float cosine = isRotated ? ROTATED_FACTOR : LINEAR_FACTOR * rotations.cosines()[x];
        float sine = isRotated ? ROTATED_FACTOR : -LINEAR_FACTOR * rotations.sines()[x];
        long at = KEYS_AT + (long) (tier * steps() + step) * 2 * QUADS * KEY_BYTES;
        at += slot % ROWS / 2 * KEY_BYTES + slot % 2 * Short.BYTES;
        int width = order.widths()[Math.min(tier, MeadParameters.TIERS - 2)][step];
        float oneX = Math.scalb(range(codes, x) / unit, -width);
        float oneY = Math.scalb(range(codes, y) / unit, -width);
        putFour(to, at, cosine * oneX, cosine * oneY, predictions[x], predictions[y]);
        float minimumX = minimum(codes, unit, x, cosine);
        float minimumY = minimum(codes, unit, y, cosine);
        at += QUADS * KEY_BYTES;
        putFour(to, at, sine * oneX, sine * oneY, -minimumY, minimumX);
      }
    }
  }

  /** Writes halves of four words. */
  private static void putFour(MemorySegment to, long at, float... numbers) {
    for (int i = 0; i < numbers.length; i++) {
      to.set(JAVA_SHORT, at + (long) i * Integer.BYTES, half(numbers[i]));
    }
  }

  /** Returns a power of two in whose units the factors of all channels are finite halves. */
  private static float keyUnit(MeadParameters.Head head) {
    float widest = 0;
    for (int tier = 0; tier < MeadParameters.TIERS; tier++) {
      RowCodeLayout codes = head.codes(true, tier);
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

  /** Returns the minimum, shifted by what rounding the factor changes in the middle. */
  private static float minimum(RowCodeLayout codes, float unit, int channel, float of) {
    if (codes.bits(channel) == 0) {
      return 0;
    }
    float range = range(codes, channel) / unit;
    float rounded = Float.float16ToFloat(half(of * range)) / of;
    float middle = 0.5f * (1 - Math.scalb(1f, -codes.bits(channel)));
    return codes.minimum(channel) / unit + (range - rounded) * middle;
  }

  /** Writes what values need; of tables the only row, as others are read by other kernels. */
  private void putValues(
      MeadParameters.Head head, StepWidths order, float[] units, MemorySegment to) {
    float[] predictions = firstRow(head.base(false));
    int[] channels = order.channels();
    for (int slot = 0; slot < headDim; slot++) {
      int channel = channels[slot];
      int step = slot / StepWidths.CHANNELS;
      int upper = slot / ROWS % 2;
      long at = (step * ROWS + slot % ROWS) * (long) VALUE_BYTES + upper * Float.BYTES;
      float factor = VALUE_FACTOR / (1 << upper);
      for (int tier = 0; tier < MeadParameters.TIERS; tier++) {
        RowCodeLayout codes = head.codes(false, tier);
        float one = Math.scalb(range(codes, channel), -order.widths()[tier][step]);
        float minimum = codes.bits(channel) == 0 ? 0 : codes.minimum(channel);
        long own = (long) tier * steps() * ROWS * VALUE_BYTES + at;
        to.set(JAVA_FLOAT, valueStepsAt() + own, factor * one);
        to.set(JAVA_FLOAT, valueMinimaAt() + own, minimum);
      }
      float base = predictions[channel] - MEAN_ZERO * units[channel];
      to.set(JAVA_FLOAT, valueBaseAt() + at, base);
      to.set(JAVA_FLOAT, unitsAt() + at, MEAN_FACTOR * units[channel]);
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
