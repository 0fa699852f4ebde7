package dev.kvasir.cuda.kernels;

/**
 * The rows of a step: those of generated tokens, then those of prompts. The two go through
 * different products, whatever their number, so that a row's result does not depend on other rows.
 *
 * @param generated rows of generated tokens, which come first
 * @param all number of rows
 */
public record RowCounts(int generated, int all) {
  int prompt() {
    return all - generated;
  }
}
