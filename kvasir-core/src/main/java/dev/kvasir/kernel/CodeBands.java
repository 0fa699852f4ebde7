package dev.kvasir.kernel;

import java.util.List;

/**
 * Rows of codes one after another, in bands of rows that are laid out alike.
 *
 * @param layouts of each band, of one width
 * @param counts rows of each band
 * @param plan all of it for kernels that are called: the bands one after another // (bands, ints)
 *     <pre>
 * rows, bytes of a row, {@link CodeOctets}: starts, places, masks, slopes, lifts
 * </pre>
 *
 * @param columns the same for kernels that read rows in {@link ByteColumns} // (bands, ints)
 *     <pre>
 * rows, bytes of a row, n channels with codes, m of them whose codes lie within one byte
 * of those m, then of the others: first bit, (channel << 4 | bits)   // (width, 2), n are used
 * half a step of each, in the same order                             // (width), n are used
 * </pre>
 */
public record CodeBands(List<RowCodes> layouts, int[] counts, int[] plan, int[] columns) {
  /** Rows at the most: a token's place fits a byte. */
  public static final int MOST_ROWS = 128;

  private static final int COLUMN_HEADER = 4;

  /**
   * @param counts rows of each band, {@link #MOST_ROWS} in all at the most
   */
  public static CodeBands of(List<RowCodes> layouts, int... counts) {
    int width = layouts.getFirst().width();
    int rows = 0;
    for (int band = 0; band < counts.length; band++) {
      rows += counts[band];
      if (layouts.get(band).width() != width) {
        throw new IllegalArgumentException(
            "rows of %d channels beside rows of %d".formatted(layouts.get(band).width(), width));
      }
    }
    if (counts.length != layouts.size() || rows > MOST_ROWS) {
      throw new IllegalArgumentException(
          "%d layouts, %d counts, %d rows; expected as many, and up to %d rows"
              .formatted(layouts.size(), counts.length, rows, MOST_ROWS));
    }
    return new CodeBands(
        List.copyOf(layouts), counts.clone(), plan(layouts, counts), columns(layouts, counts));
  }

  private static int[] plan(List<RowCodes> layouts, int[] counts) {
    int width = layouts.getFirst().width();
    int ints = 2 + width / CodeOctets.CHANNELS + 4 * width;
    int[] plan = new int[layouts.size() * ints];
    for (int band = 0; band < counts.length; band++) {
      CodeOctets octets = layouts.get(band).octets();
      int at = band * ints;
      plan[at++] = counts[band];
      plan[at++] = layouts.get(band).rowBytes();
      for (int start : octets.starts()) {
        plan[at++] = start;
      }
      for (int i = 0; i < width; i++) {
        plan[at + i] = places(octets.places(), Integer.BYTES * i);
        plan[at + width + i] = octets.masks()[i];
        plan[at + 2 * width + i] = Float.floatToRawIntBits(octets.slopes()[i]);
        plan[at + 3 * width + i] = Float.floatToRawIntBits(octets.lifts()[i]);
      }
    }
    return plan;
  }

  private static int[] columns(List<RowCodes> layouts, int[] counts) {
    int width = layouts.getFirst().width();
    int ints = COLUMN_HEADER + 3 * width;
    int[] columns = new int[layouts.size() * ints];
    for (int band = 0; band < counts.length; band++) {
      RowCodes codes = layouts.get(band);
      int at = band * ints;
      int whole = putChannels(codes, false, columns, at, 0);
      columns[at] = counts[band];
      columns[at + 1] = codes.rowBytes();
      columns[at + 2] = putChannels(codes, true, columns, at, whole);
      columns[at + 3] = whole;
    }
    return columns;
  }

  /**
   * Adds channels whose codes are split between two bytes, or those whose codes are not; answers
   * how many there are then.
   */
  private static int putChannels(RowCodes codes, boolean split, int[] columns, int band, int from) {
    int entries = band + COLUMN_HEADER;
    int halves = entries + 2 * codes.width();
    int next = from;
    for (int i = 0; i < codes.width(); i++) {
      if (codes.bits(i) > 0 && codes.isSplit(i) == split) {
        columns[entries + 2 * next] = codes.offset(i);
        columns[entries + 2 * next + 1] = i << 4 | codes.bits(i);
        columns[halves + next] = Float.floatToRawIntBits(codes.half(i));
        next++;
      }
    }
    return next;
  }

  /** Refuses bands that do not fill {@link ByteColumns}. */
  public void requireColumns() {
    for (int count : counts) {
      if (count % ByteColumns.ROWS != 0) {
        throw new IllegalArgumentException(
            "a band has %d rows; expected a multiple of %d".formatted(count, ByteColumns.ROWS));
      }
    }
  }

  /** As a machine has them whose low bytes come first. */
  private static int places(byte[] places, int at) {
    return places[at] | places[at + 1] << 8 | places[at + 2] << 16 | places[at + 3] << 24;
  }

  /** Channels. */
  public int width() {
    return layouts.getFirst().width();
  }

  /** Of all bands. */
  public int rows() {
    int rows = 0;
    for (int count : counts) {
      rows += count;
    }
    return rows;
  }

  public RowCodes layout(int band) {
    return layouts.get(band);
  }

  public int bands() {
    return counts.length;
  }

  /** Of all rows. */
  public long bytes() {
    long bytes = 0;
    for (int band = 0; band < counts.length; band++) {
      bytes += (long) counts[band] * layouts.get(band).rowBytes();
    }
    return bytes;
  }
}
