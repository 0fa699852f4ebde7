package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/**
 * Rows of codes of different widths, each added to a row of a table: an operand of {@link
 * RowCodeKernels}. A page reader keeps one with its scratch memory and repoints it. Not
 * thread-safe.
 */
public final class RowCodeBlock {
  private MemorySegment source = MemorySegment.NULL;
  private long offset;
  private CodeBands bands;
  private NibbleRows base;
  private float[] lows;
  private byte[] tokens;
  private int[] tableRows;

  /**
   * Points this block at other rows.
   *
   * @param source codes from {@code offset} on, followed by {@link RowCodeLayout#OVERREAD_BYTES}
   *     readable bytes
   * @param base the table
   * @param lows replace those of the table // (width)
   * @param tokens the token of each row, from 0 to rows - 1, each once // (rows)
   * @param tableRows the table row of each row // (rows)
   */
  public RowCodeBlock set(
      MemorySegment source,
      long offset,
      CodeBands bands,
      NibbleRows base,
      float[] lows,
      byte[] tokens,
      int[] tableRows) {
    this.source = source;
    this.offset = offset;
    this.bands = bands;
    this.base = base;
    this.lows = lows;
    this.tokens = tokens;
    this.tableRows = tableRows;
    return this;
  }

  public MemorySegment source() {
    return source;
  }

  /** Returns the offset of the first code, in bytes. */
  public long offset() {
    return offset;
  }

  public CodeBands bands() {
    return bands;
  }

  /** Returns the table. */
  public NibbleRows base() {
    return base;
  }

  /** (width). */
  public float[] lows() {
    return lows;
  }

  /** (rows). */
  public byte[] tokens() {
    return tokens;
  }

  /** (rows). */
  public int[] tableRows() {
    return tableRows;
  }

  public int rows() {
    return bands.rows();
  }

  public int width() {
    return bands.width();
  }
}
