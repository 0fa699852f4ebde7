package dev.kvasir.lab.mead;

import dev.kvasir.codec.mead.TableKind;
import java.util.SortedSet;

/**
 * How much is read.
 *
 * @param length tokens of a text
 * @param proseTexts that tables are made of; 0 to learn from questions alone
 * @param taskTexts the same with questions; 0 to learn from prose alone
 * @param metricTexts of each kind that the loss is followed back in
 * @param tableRows at the most, for the token ids that are met most often
 * @param tables kinds that are made
 */
public record MeadSettings(
    int length,
    int proseTexts,
    int taskTexts,
    int metricTexts,
    int tableRows,
    SortedSet<TableKind> tables,
    long seed) {
  /** A sixth of what tables are made of is kept, and as much that they are not made of. */
  private static final int RETAINED_FRACTION = 12;

  /** Texts of which what the layers make is kept, in all. */
  public int retainedTexts() {
    return 2 * (retainedOf(proseTexts) + retainedOf(taskTexts));
  }

  int retainedOf(int texts) {
    return texts == 0 ? 0 : Math.max(1, texts / RETAINED_FRACTION);
  }
}
