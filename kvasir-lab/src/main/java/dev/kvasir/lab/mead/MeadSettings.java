package dev.kvasir.lab.mead;

import dev.kvasir.codec.mead.TableKind;
import java.util.SortedSet;

/**
 * The amount of calibration text.
 *
 * @param length tokens of a text
 * @param proseTexts number of prose texts for tables; 0 to use questions alone
 * @param taskTexts number of texts with questions; 0 to use prose alone
 * @param metricTexts number of texts of each kind for the metric
 * @param tableRows maximum number of table rows, for the most frequent token ids
 * @param tables kinds of tables to create
 */
public record MeadSettings(
    int length,
    int proseTexts,
    int taskTexts,
    int metricTexts,
    int tableRows,
    SortedSet<TableKind> tables,
    long seed) {
  /**
   * One in twelve texts is retained from those that tables are fitted to, and as many are held out.
   */
  private static final int RETAINED_FRACTION = 12;

  /** Returns the total number of texts whose activations are retained. */
  public int retainedTexts() {
    return 2 * (retainedOf(proseTexts) + retainedOf(taskTexts));
  }

  int retainedOf(int texts) {
    return texts == 0 ? 0 : Math.max(1, texts / RETAINED_FRACTION);
  }
}
