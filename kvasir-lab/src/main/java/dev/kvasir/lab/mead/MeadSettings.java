package dev.kvasir.lab.mead;

import dev.kvasir.codec.mead.TableKind;
import java.util.SortedSet;

/**
 * The amount of calibration text.
 *
 * @param length tokens of a text
 * @param proseTexts number of prose texts for tables; 0 to use lookups alone
 * @param taskTexts number of texts with lookups; 0 to use prose alone
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
   * With tables, one in twelve texts is retained from those that tables are fitted to, and as many
   * are held out.
   */
  private static final int RETAINED_FRACTION = 12;

  /** More texts of a kind make deviations hardly more exact, but take disk. */
  private static final int MAX_RETAINED = 16;

  /** Returns whether some texts must not be fitted, because tables fit their own texts too well. */
  boolean holdsOut() {
    return hasTokenTables() || tables.contains(TableKind.CENTROIDS);
  }

  public boolean hasTokenTables() {
    return tables.contains(TableKind.TOKENS);
  }

  /** Returns the total number of texts whose activations are retained. */
  public int retainedTexts() {
    return (holdsOut() ? 2 : 1) * (retainedOf(proseTexts) + retainedOf(taskTexts));
  }

  /** Returns how many texts of a kind are retained, and held out if any are. */
  int retainedOf(int texts) {
    if (texts == 0) {
      return 0;
    }
    return holdsOut() ? Math.max(1, texts / RETAINED_FRACTION) : Math.min(texts, MAX_RETAINED);
  }
}
