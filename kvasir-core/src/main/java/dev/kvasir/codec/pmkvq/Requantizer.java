package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.page.CodeMatrix;
import dev.kvasir.page.CodeScratch;
import dev.kvasir.page.ColumnScaledCodes;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.RowScaledCodes;
import dev.kvasir.page.ScaleSpan;
import dev.kvasir.page.WideCodes;
import dev.kvasir.page.WordLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Requantizes pages to fewer bits directly on their codes, without dequantization. A table for each
 * pair of bit widths maps every code, by as many shifts as lie between the two.
 */
final class Requantizer {
  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int WIDTHS = LevelShapes.WIDEST + 1;
  private static final int MIDDLE = 1 << 15;

  private final RightShift shift;
  private final AtomicReferenceArray<byte[]> tables = new AtomicReferenceArray<>(WIDTHS * WIDTHS);

  Requantizer(RightShift shift) {
    this.shift = shift;
  }

  /** Returns the bytes of a page in shapes with fewer bits. */
  MemorySegment requantize(UniformPage page, List<HeadShape> shapes) {
    int bytes = shapes.stream().mapToInt(HeadShape::bytes).sum();
    MemorySegment target = MemorySegment.ofArray(new byte[bytes]);
    CodeScratch scratch = new CodeScratch();
    long to = 0;
    for (int head = 0; head < shapes.size(); head++) {
      HeadShape wide = page.shape(head);
      HeadShape narrow = shapes.get(head);
      long from = page.keysOffset(head);
      for (int i = 0; i < narrow.keys().size(); i++) {
        requantize(
            scratch, wide.keys().get(i), page.bytes(), from, narrow.keys().get(i), target, to);
        from += wide.keys().get(i).bytes();
        to += narrow.keys().get(i).bytes();
      }
      if (!narrow.hasValuesInKeys()) {
        requantize(scratch, wide.values(), page.bytes(), from, narrow.values(), target, to);
        to += narrow.values().bytes();
      }
    }
    return target;
  }

  private void requantize(
      CodeScratch scratch,
      CodeMatrix wide,
      MemorySegment source,
      long from,
      CodeMatrix narrow,
      MemorySegment target,
      long to) {
    WordLayout layout = layout(narrow);
    byte[] codes = scratch.codes(layout.rows() * layout.columns());
    byte[] table = table(wide.bits(), narrow.bits());
    if (wide instanceof WideCodes rows) {
      translate(rows, rows.codes(scratch, source, from), table, layout, codes);
    } else {
      layout(wide).unpack(scratch, source, from, codes);
      for (int i = 0; i < layout.rows() * layout.columns(); i++) {
        codes[i] = table[codes[i] & 0xFF];
      }
    }
    layout.pack(scratch, codes, target, to);
    long scales = narrow.bytes() - narrow.codeBytes();
    MemorySegment.copy(source, from + wide.codeBytes(), target, to + narrow.codeBytes(), scales);
    if (!shift.keepsScales()) {
      rescale(target, to + narrow.codeBytes(), (int) scales / 4, wide.bits(), narrow.bits());
    }
  }

  private static WordLayout layout(CodeMatrix block) {
    return switch (block) {
      case RowScaledCodes codes -> codes.layout();
      case ColumnScaledCodes codes -> codes.layout();
      default -> throw new IllegalArgumentException("%s has no words of codes".formatted(block));
    };
  }

  /** Maps 16-bit codes, stored in rows that share scales, to the (rows, columns) order of words. */
  private static void translate(
      WideCodes wide, short[] rows, byte[] table, WordLayout layout, byte[] codes) {
    java.util.Arrays.fill(codes, 0, layout.rows() * layout.columns(), (byte) 0);
    int columns = wide.storedColumns();
    int rowStep = wide.byColumn() ? 1 : layout.columns();
    int columnStep = wide.byColumn() ? layout.columns() : 1;
    for (int row = 0; row < wide.storedRows(); row++) {
      for (int column = 0; column < columns; column++) {
        codes[row * rowStep + column * columnStep] = table[rows[row * columns + column] + MIDDLE];
      }
    }
  }

  /** Returns the table that maps codes of one bit width to another. */
  byte[] table(int from, int to) {
    int at = from * WIDTHS + to;
    byte[] known = tables.get(at);
    if (known == null) {
      known = new byte[1 << from];
      for (int code = 0; code < known.length; code++) {
        known[code] = (byte) requantize(code, from, to);
      }
      tables.set(at, known);
    }
    return known;
  }

  private int requantize(int code, int from, int to) {
    int narrowed = code;
    for (int bits = from / 2; bits >= to; bits /= 2) {
      narrowed = shift.shift(narrowed, bits);
    }
    return narrowed;
  }

  /** Adjusts scales and zeros for a shift that changes them, and rounds them to fp16 once. */
  private void rescale(MemorySegment bytes, long at, int count, int from, int to) {
    for (int i = 0; i < count; i++) {
      float scale = Float.float16ToFloat(bytes.get(HALF, at + 2L * i));
      float zero = Float.float16ToFloat(bytes.get(HALF, at + 2L * (count + i)));
      for (int bits = from / 2; bits >= to; bits /= 2) {
        zero += shift.zeroSteps(bits) * scale * ScaleSpan.THIRD.unit(2 * bits);
        scale *= shift.scaleFactor(bits);
      }
      bytes.set(HALF, at + 2L * i, Float.floatToFloat16(scale));
      bytes.set(HALF, at + 2L * (count + i), Float.floatToFloat16(zero));
    }
  }
}
