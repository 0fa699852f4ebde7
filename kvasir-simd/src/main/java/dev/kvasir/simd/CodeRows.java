package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.FMA;
import static jdk.incubator.vector.VectorOperators.I2F;
import static jdk.incubator.vector.VectorOperators.LSHR;
import static jdk.incubator.vector.VectorOperators.MUL;
import static jdk.incubator.vector.VectorOperators.NEG;

import dev.kvasir.kernel.CodeOctets;
import dev.kvasir.kernel.NibbleRows;
import dev.kvasir.kernel.RowCodes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Eight channels of rows of codes, in two vectors of four: one instruction picks bytes out of 128
 * bits on every machine, out of more on few.
 */
final class CodeRows {
  static final int CHANNELS = CodeOctets.CHANNELS;

  private static final VectorSpecies<Byte> BYTES = ByteVector.SPECIES_128;
  private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_128;
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_128;
  private static final int FOUR = FLOATS.length();
  private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ORDER);
  private static final int NIBBLE = 15;

  /** Where the lower nibbles of four bytes lie in an int. */
  private static final int[] NIBBLES = {0, 8, 16, 24};

  private CodeRows() {}

  /** Eight channels of all rows: what is the same for the rows stays in registers. */
  static void decode(
      MemorySegment source,
      long offset,
      RowCodes codes,
      int channel,
      byte[] tokens,
      int from,
      int count,
      NibbleRows base,
      float[] lows,
      int[] picked,
      float[] out) {
    CodeOctets octets = codes.octets();
    int width = codes.width();
    int next = channel + FOUR;
    ByteVector places0 = ByteVector.fromArray(BYTES, octets.places(), Integer.BYTES * channel);
    ByteVector places1 = ByteVector.fromArray(BYTES, octets.places(), Integer.BYTES * next);
    IntVector masks0 = IntVector.fromArray(INTS, octets.masks(), channel);
    IntVector masks1 = IntVector.fromArray(INTS, octets.masks(), next);
    FloatVector slopes0 = FloatVector.fromArray(FLOATS, octets.slopes(), channel);
    FloatVector slopes1 = FloatVector.fromArray(FLOATS, octets.slopes(), next);
    FloatVector lifts0 = FloatVector.fromArray(FLOATS, octets.lifts(), channel);
    FloatVector lifts1 = FloatVector.fromArray(FLOATS, octets.lifts(), next);
    FloatVector steps0 = FloatVector.fromArray(FLOATS, base.steps(), channel);
    FloatVector steps1 = FloatVector.fromArray(FLOATS, base.steps(), next);
    FloatVector lows0 = FloatVector.fromArray(FLOATS, lows, channel);
    FloatVector lows1 = FloatVector.fromArray(FLOATS, lows, next);
    int half = width / 2;
    boolean upper = channel >= half;
    IntVector nibbles = IntVector.fromArray(INTS, NIBBLES, 0).add(upper ? 4 : 0);
    MemorySegment table = base.data();
    int nibble = upper ? channel - half : channel;
    int start = octets.starts()[channel / CHANNELS];
    float[] scales = RowCodes.scales();
    for (int i = 0; i < count; i++) {
      int token = tokens[from + i];
      long row = offset + (long) i * codes.rowBytes();
      float scale = scales[source.get(ValueLayout.JAVA_BYTE, row) & RowCodes.SCALES - 1];
      ByteVector bytes = ByteVector.fromMemorySegment(BYTES, source, row + start, ORDER);
      long tableAt = (long) picked[from + i] * base.stride() + nibble;
      int at = token * width + channel;
      FloatVector base0 =
          ((FloatVector)
                  IntVector.broadcast(INTS, table.get(INT, tableAt))
                      .lanewise(LSHR, nibbles)
                      .and(NIBBLE)
                      .convert(I2F, 0))
              .lanewise(FMA, steps0, lows0);
      ((FloatVector) places0.selectFrom(bytes).reinterpretAsInts().and(masks0).convert(I2F, 0))
          .lanewise(FMA, slopes0, lifts0)
          .lanewise(FMA, FloatVector.broadcast(FLOATS, scale), base0)
          .intoArray(out, at);
      FloatVector base1 =
          ((FloatVector)
                  IntVector.broadcast(INTS, table.get(INT, tableAt + FOUR))
                      .lanewise(LSHR, nibbles)
                      .and(NIBBLE)
                      .convert(I2F, 0))
              .lanewise(FMA, steps1, lows1);
      ((FloatVector) places1.selectFrom(bytes).reinterpretAsInts().and(masks1).convert(I2F, 0))
          .lanewise(FMA, slopes1, lifts1)
          .lanewise(FMA, FloatVector.broadcast(FLOATS, scale), base1)
          .intoArray(out, at + FOUR);
    }
  }

  static void turnEach(float[] rows, int count, int pairs, float[] cosines, float[] sines) {
    VectorSpecies<Float> species = FloatRows.SPECIES;
    int whole = species.loopBound(pairs);
    for (int row = 0; row < count; row++) {
      int at = row * 2 * pairs;
      int angle = row * pairs;
      for (int i = 0; i < whole; i += species.length()) {
        FloatVector cos = FloatVector.fromArray(species, cosines, angle + i);
        FloatVector sin = FloatVector.fromArray(species, sines, angle + i);
        FloatVector x = FloatVector.fromArray(species, rows, at + i);
        FloatVector y = FloatVector.fromArray(species, rows, at + pairs + i);
        y.lanewise(NEG).lanewise(FMA, sin, x.lanewise(MUL, cos)).intoArray(rows, at + i);
        x.lanewise(FMA, sin, y.lanewise(MUL, cos)).intoArray(rows, at + pairs + i);
      }
      for (int i = whole; i < pairs; i++) {
        float x = rows[at + i];
        float y = rows[at + pairs + i];
        rows[at + i] = Math.fma(-y, sines[angle + i], x * cosines[angle + i]);
        rows[at + pairs + i] = Math.fma(x, sines[angle + i], y * cosines[angle + i]);
      }
    }
  }
}
