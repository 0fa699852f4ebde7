package dev.kvasir.cuda.kernels;

/**
 * The rows of a step: those of generated tokens, then those of prompts. The two go through
 * different products, whatever their number, so that a row's result does not depend on other rows.
 *
 * @param generated rows of generated tokens, which come first
 * @param all number of rows
 */
public record RowCounts(int generated, int all) {
  public static final RowCounts NONE = new RowCounts(0, 0);

  /** Returns these counts if they are the same, as a step should allocate nothing. */
  public RowCounts with(int itsGenerated, int inAll) {
    return generated == itsGenerated && all == inAll ? this : new RowCounts(itsGenerated, inAll);
  }

  int prompt() {
    return all - generated;
  }
}
