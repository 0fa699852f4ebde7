package dev.kvasir.kernel;

import java.util.List;

/**
 * Consecutive rows of codes in bands, where the rows of a band share a layout.
 *
 * @param layouts of each band, of one width
 * @param counts rows of each band
 * @param descriptor the bands one after another, as native kernels read them // (bands, ints)
 *     <pre>
 * rows, bytes of a row, {@link ShuffleTables}: starts, shuffles, masks, steps, minimums
 * </pre>
 *
 * @param columnDescriptor the same for kernels that read {@link InterleavedBytes} // (bands, ints)
 *     <pre>
 * rows, bytes of a row, n channels with codes, m of them whose codes are within one byte
 * of those m, then of the others: first bit, (channel &lt;&lt; 4 | bits)   // (width, 2), n are used
 * half a step of each, in the same order                             // (width), n are used
 * </pre>
 */
public record CodeBands(
    List<RowCodeLayout> layouts, int[] counts, int[] descriptor, int[] columnDescriptor) {
  /** Maximum number of rows: the index of a token fits a byte. */
  public static final int MAX_ROWS = 128;

  private static final int COLUMN_HEADER = 4;

  /**
   * @param counts rows of each band, at most {@link #MAX_ROWS} in total
   */
  public static CodeBands of(List<RowCodeLayout> layouts, int... counts) {
    int width = layouts.getFirst().width();
    int rows = 0;
    for (int band = 0; band < counts.length; band++) {
      rows += counts[band];
      if (layouts.get(band).width() != width) {
        throw new IllegalArgumentException(
            "rows of %d channels next to rows of %d".formatted(layouts.get(band).width(), width));
      }
    }
    if (counts.length != layouts.size() || rows > MAX_ROWS) {
      throw new IllegalArgumentException(
          "%d layouts, %d counts, %d rows; expected as many, and up to %d rows"
              .formatted(layouts.size(), counts.length, rows, MAX_ROWS));
    }
    return new CodeBands(
        List.copyOf(layouts),
        counts.clone(),
        descriptor(layouts, counts),
        columnDescriptor(layouts, counts));
  }

  private static int[] descriptor(List<RowCodeLayout> layouts, int[] counts) {
    int width = layouts.getFirst().width();
    int ints = 2 + width / ShuffleTables.CHANNELS + 4 * width;
    int[] descriptor = new int[layouts.size() * ints];
    for (int band = 0; band < counts.length; band++) {
      ShuffleTables shuffleTables = layouts.get(band).shuffleTables();
      int at = band * ints;
      descriptor[at++] = counts[band];
      descriptor[at++] = layouts.get(band).rowBytes();
      for (int start : shuffleTables.starts()) {
        descriptor[at++] = start;
      }
      for (int i = 0; i < width; i++) {
        descriptor[at + i] = littleEndianInt(shuffleTables.shuffles(), Integer.BYTES * i);
        descriptor[at + width + i] = shuffleTables.masks()[i];
        descriptor[at + 2 * width + i] = Float.floatToRawIntBits(shuffleTables.steps()[i]);
        descriptor[at + 3 * width + i] = Float.floatToRawIntBits(shuffleTables.minimums()[i]);
      }
    }
    return descriptor;
  }

  private static int[] columnDescriptor(List<RowCodeLayout> layouts, int[] counts) {
    int width = layouts.getFirst().width();
    int ints = COLUMN_HEADER + 3 * width;
    int[] columnDescriptor = new int[layouts.size() * ints];
    for (int band = 0; band < counts.length; band++) {
      RowCodeLayout layout = layouts.get(band);
      int at = band * ints;
      int whole = putChannels(layout, false, columnDescriptor, at, 0);
      columnDescriptor[at] = counts[band];
      columnDescriptor[at + 1] = layout.rowBytes();
      columnDescriptor[at + 2] = putChannels(layout, true, columnDescriptor, at, whole);
      columnDescriptor[at + 3] = whole;
    }
    return columnDescriptor;
  }

  /**
   * Adds the channels whose codes are split between two bytes, or those whose codes are not.
   * Returns the number of channels so far.
   */
  private static int putChannels(
      RowCodeLayout layout, boolean split, int[] columnDescriptor, int band, int from) {
    int channels = band + COLUMN_HEADER;
    int halfSteps = channels + 2 * layout.width();
    int next = from;
    for (int i = 0; i < layout.width(); i++) {
      if (layout.bits(i) > 0 && layout.isSplit(i) == split) {
        columnDescriptor[channels + 2 * next] = layout.offset(i);
        columnDescriptor[channels + 2 * next + 1] = i << 4 | layout.bits(i);
        columnDescriptor[halfSteps + next] = Float.floatToRawIntBits(layout.halfStep(i));
        next++;
      }
    }
    return next;
  }

  /** Throws if a band is not a multiple of the rows that {@link InterleavedBytes} interleave. */
  public void requireInterleavable() {
    for (int count : counts) {
      if (count % InterleavedBytes.ROWS != 0) {
        throw new IllegalArgumentException(
            "a band has %d rows; expected a multiple of %d"
                .formatted(count, InterleavedBytes.ROWS));
      }
    }
  }

  /** Returns four bytes as a little-endian integer. */
  private static int littleEndianInt(byte[] bytes, int at) {
    return bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | bytes[at + 3] << 24;
  }

  public int width() {
    return layouts.getFirst().width();
  }

  /** Returns the rows of all bands. */
  public int rows() {
    int rows = 0;
    for (int count : counts) {
      rows += count;
    }
    return rows;
  }

  public RowCodeLayout layout(int band) {
    return layouts.get(band);
  }

  public int bands() {
    return counts.length;
  }

  public long bytes() {
    long bytes = 0;
    for (int band = 0; band < counts.length; band++) {
      bytes += (long) counts[band] * layouts.get(band).rowBytes();
    }
    return bytes;
  }
}
