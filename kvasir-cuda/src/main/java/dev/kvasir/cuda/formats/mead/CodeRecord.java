package dev.kvasir.cuda.formats.mead;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.kvasir.codec.mead.MeadParameters;
import dev.kvasir.kernel.RowCodeLayout;
import java.lang.foreign.MemorySegment;

/** What a KV head is quantized and dequantized with, as MeadCodes in meadpages.cuh has it. */
record CodeRecord(int headDim) {
  private static final int SIDES = 2;
  private static final int MAX_STEPS = 8;
  private static final int STEP_PLACES = PartLayout.GROUPS + 1;

  private int slotsAt() {
    return SIDES * MeadParameters.TIERS * headDim;
  }

  private int channelsAt() {
    return slotsAt() + SIDES * headDim;
  }

  private int stepsAt() {
    return channelsAt() + SIDES * headDim;
  }

  private int halfStepsAt() {
    return stepsAt() + SIDES * STEP_PLACES * MAX_STEPS * Integer.BYTES;
  }

  private int weightsAt() {
    return halfStepsAt() + SIDES * MeadParameters.TIERS * headDim * Float.BYTES;
  }

  private int lowsAt() {
    return weightsAt() + headDim * Float.BYTES;
  }

  private int rowStepsAt() {
    return lowsAt() + SIDES * headDim * Float.BYTES;
  }

  private int unitsAt() {
    return rowStepsAt() + SIDES * headDim * Float.BYTES;
  }

  private int toAt() {
    return unitsAt() + headDim * Float.BYTES;
  }

  private int fromAt() {
    return toAt() + headDim * headDim * Float.BYTES;
  }

  int bytes() {
    return fromAt() + headDim * headDim * Float.BYTES;
  }

  /**
   * @param units units of the mean errors of components
   */
  void put(
      MeadParameters.Head head,
      PartLayout keys,
      PartLayout values,
      float[] units,
      MemorySegment to) {
    putSide(head, true, keys, to);
    putSide(head, false, values, to);
    putFloats(head.keyWeights(), to, weightsAt());
    putFloats(units, to, unitsAt());
    putFloats(head.valueTo(), to, toAt());
    int[] channels = values.order().channels();
    for (int slot = 0; slot < headDim; slot++) {
      for (int channel = 0; channel < headDim; channel++) {
        float factor = head.valueFrom()[channel * headDim + channels[slot]];
        to.set(JAVA_FLOAT, fromAt() + (long) Float.BYTES * (slot * headDim + channel), factor);
      }
    }
  }

  private void putSide(
      MeadParameters.Head head, boolean ofKeys, PartLayout layout, MemorySegment to) {
    int side = ofKeys ? 0 : 1;
    int[] slots = layout.order().slots();
    for (int channel = 0; channel < headDim; channel++) {
      to.set(JAVA_BYTE, slotsAt() + side * headDim + channel, (byte) slots[channel]);
      to.set(JAVA_BYTE, channelsAt() + side * headDim + slots[channel], (byte) channel);
    }
    for (int tier = 0; tier < MeadParameters.TIERS; tier++) {
      RowCodeLayout codes = head.codes(ofKeys, tier);
      int row = side * MeadParameters.TIERS + tier;
      for (int channel = 0; channel < headDim; channel++) {
        int at = row * headDim + channel;
        to.set(JAVA_BYTE, at, (byte) codes.bits(channel));
        to.set(JAVA_FLOAT, halfStepsAt() + (long) Float.BYTES * at, codes.halfStep(channel));
      }
    }
    for (int place = 0; place < STEP_PLACES; place++) {
      for (int step = 0; step < layout.order().steps(); step++) {
        long at = (long) (side * STEP_PLACES + place) * MAX_STEPS + step;
        to.set(JAVA_INT, stepsAt() + Integer.BYTES * at, layout.stepsAt()[place][step]);
      }
    }
    putFloats(head.base(ofKeys).lows(), to, lowsAt() + side * headDim * Float.BYTES);
    putFloats(head.base(ofKeys).steps(), to, rowStepsAt() + side * headDim * Float.BYTES);
  }

  private static void putFloats(float[] numbers, MemorySegment to, int at) {
    MemorySegment.copy(numbers, 0, to, JAVA_FLOAT, at, numbers.length);
  }
}
