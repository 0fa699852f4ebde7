package dev.kvasir.store.beginning;

/**
 * What came of looking for beginnings in a store.
 *
 * @param hits texts that began from what was fetched
 * @param misses texts of which nothing more was there than was at hand
 * @param notWorth of the misses, those that would have come later than by reading
 * @param damaged of the misses, those that did not pass their checks
 * @param tokens that were fetched
 * @param bytes that were fetched
 * @param secondsSaved that reading would have taken, less what fetching took
 * @param kept beginnings that were given to the store
 * @param dropped beginnings that were not, because too many waited
 */
public record StoreCounts(
    long hits,
    long misses,
    long tooSlow,
    long damaged,
    long tokens,
    long bytes,
    double secondsSaved,
    long saved,
    long dropped) {
  static final StoreCounts NONE = new StoreCounts(0, 0, 0, 0, 0, 0, 0, 0, 0);

  StoreCounts withHit(int moreTokens, long moreBytes, double moreSecondsSaved) {
    return new StoreCounts(
        hits + 1,
        misses,
        tooSlow,
        damaged,
        tokens + moreTokens,
        bytes + moreBytes,
        secondsSaved + moreSecondsSaved,
        saved,
        dropped);
  }

  StoreCounts withMiss(boolean isTooSlow, boolean isDamaged) {
    return new StoreCounts(
        hits,
        misses + 1,
        tooSlow + (isTooSlow ? 1 : 0),
        damaged + (isDamaged ? 1 : 0),
        tokens,
        bytes,
        secondsSaved,
        saved,
        dropped);
  }

  StoreCounts withSave(boolean isSaved) {
    return new StoreCounts(
        hits,
        misses,
        tooSlow,
        damaged,
        tokens,
        bytes,
        secondsSaved,
        saved + (isSaved ? 1 : 0),
        dropped + (isSaved ? 0 : 1));
  }
}
