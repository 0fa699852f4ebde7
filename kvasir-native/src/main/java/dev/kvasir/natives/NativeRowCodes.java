package dev.kvasir.natives;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.kernel.CodeOctets;
import dev.kvasir.kernel.NibbleRows;
import dev.kvasir.kernel.RowCodeKernels;
import dev.kvasir.kernel.RowCodes;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Rows of codes of many widths. */
final class NativeRowCodes implements RowCodeKernels {
  /** Channels that are decoded, some 40 microseconds of them where their memory is far. */
  private static final Work DECODED = new Work(1 << 16);

  /** Values that are made floats or turn, some 40 microseconds of them. */
  private static final Work FLOATS = new Work(1 << 17);

  private static final MethodHandle DECODE =
      Calls.floats(
          "decode", ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS,
          ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS,
          ADDRESS);
  private static final MethodHandle GATHER =
      Calls.floats(
          "gather", ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
  private static final MethodHandle TURN_EACH =
      Calls.floats("turn_each", ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);

  @Override
  public void decode(
      MemorySegment source,
      long offset,
      RowCodes codes,
      byte[] tokens,
      int from,
      int count,
      NibbleRows base,
      int[] picked,
      float[] out) {
    int width = codes.width();
    if (base.width() != width) {
      throw new IllegalArgumentException(
          "a table of %d channels under codes of %d; expected as many"
              .formatted(base.width(), width));
    }
    if (count == 0) {
      return;
    }
    long rowBytes = codes.rowBytes();
    Bounds.check(source.byteSize(), offset, count * rowBytes + RowCodes.BYTES_BEHIND);
    Bounds.check(tokens.length, from, count);
    checkTokens(tokens, from, count, base, picked, out);
    int together = DECODED.together(count, width);
    for (int row = 0; row < count; row += together) {
      int some = Math.min(together, count - row);
      decodeSome(
          source, offset + row * rowBytes, codes, tokens, from + row, some, base, picked, out);
    }
  }

  private static void decodeSome(
      MemorySegment source,
      long offset,
      RowCodes codes,
      byte[] tokens,
      int from,
      int count,
      NibbleRows base,
      int[] picked,
      float[] out) {
    CodeOctets octets = codes.octets();
    try {
      DECODE.invokeExact(
          source,
          offset,
          codes.rowBytes(),
          MemorySegment.ofArray(tokens),
          from,
          count,
          codes.width(),
          MemorySegment.ofArray(octets.starts()),
          MemorySegment.ofArray(octets.places()),
          MemorySegment.ofArray(octets.masks()),
          MemorySegment.ofArray(octets.powers()),
          MemorySegment.ofArray(octets.lifts()),
          MemorySegment.ofArray(codes.halves()),
          MemorySegment.ofArray(RowCodes.scales()),
          base.data(),
          MemorySegment.ofArray(base.lows()),
          MemorySegment.ofArray(base.steps()),
          MemorySegment.ofArray(picked),
          MemorySegment.ofArray(out));
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  /** Java itself refuses a token that has picked nothing. */
  private static void checkTokens(
      byte[] tokens, int from, int count, NibbleRows base, int[] picked, float[] out) {
    int last = 0;
    int least = 0;
    int most = 0;
    for (int row = from; row < from + count; row++) {
      int token = tokens[row];
      last = Math.max(last, token);
      least = Math.min(least, picked[token]);
      most = Math.max(most, picked[token]);
    }
    Bounds.check(out.length, last * base.width(), base.width());
    checkFirst(least);
    Bounds.check(base.data().byteSize(), (long) most * base.rowBytes(), base.rowBytes());
  }

  private static void checkFirst(int least) {
    if (least < 0) {
      throw new IndexOutOfBoundsException("row %d".formatted(least));
    }
  }

  @Override
  public void gather(
      MemorySegment source,
      long offset,
      int stride,
      int[] picked,
      int count,
      int width,
      float[] out) {
    if (count == 0) {
      return;
    }
    Bounds.check(stride, width);
    Bounds.check(picked.length, 0, count);
    Bounds.check(out.length, 0, count, width, width);
    int most = highest(picked, count);
    Bounds.check(source.byteSize(), offset, Short.BYTES * ((long) most * stride + width));
    int together = FLOATS.together(count, width);
    for (int token = 0; token < count; token += together) {
      int end = Math.min(count, token + together);
      try {
        GATHER.invokeExact(
            source,
            offset,
            stride,
            MemorySegment.ofArray(picked),
            token,
            end,
            width,
            MemorySegment.ofArray(out));
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }

  /** The highest of rows, none of which lies below the first. */
  private static int highest(int[] picked, int count) {
    int least = 0;
    int most = 0;
    for (int token = 0; token < count; token++) {
      least = Math.min(least, picked[token]);
      most = Math.max(most, picked[token]);
    }
    checkFirst(least);
    return most;
  }

  @Override
  public void turnEach(float[] rows, int count, int pairs, float[] cosines, float[] sines) {
    Bounds.check(rows.length, 0, count, 2 * pairs, 2 * pairs);
    Bounds.check(cosines.length, 0, count, pairs, pairs);
    Bounds.check(sines.length, 0, count, pairs, pairs);
    int together = FLOATS.together(count, 2L * pairs);
    for (int row = 0; row < count; row += together) {
      int end = Math.min(count, row + together);
      try {
        TURN_EACH.invokeExact(
            MemorySegment.ofArray(rows),
            row,
            end,
            pairs,
            MemorySegment.ofArray(cosines),
            MemorySegment.ofArray(sines));
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }
}
