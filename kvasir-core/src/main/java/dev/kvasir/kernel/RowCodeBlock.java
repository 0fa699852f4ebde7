package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/**
 * Rows of codes of different widths on top of rows of a table: an operand of {@link
 * RowCodeKernels}. Whoever reads pages holds one beside its scratch memory and points it anew. Not
 * for several threads at once.
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
   * Points to other rows.
   *
   * @param source codes from {@code offset} on, with {@link RowCodeLayout#BYTES_BEHIND} readable
   *     bytes behind the last one
   * @param base the table
   * @param lows in the place of the table's // (width)
   * @param tokens which token each row belongs to, from 0 to rows - 1, each once // (rows)
   * @param picked by row, the row of the table // (rows)
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

  /** Of the first code, in bytes. */
  public long offset() {
    return offset;
  }

  public CodeBands bands() {
    return bands;
  }

  /** The table. */
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

  /** Channels. */
  public int width() {
    return bands.width();
  }
}
