package dev.kvasir.store.prefix;

/**
 * Counters of prefix lookups in a store.
 *
 * @param hits texts that started from a fetched prefix
 * @param misses texts for which the store had no longer prefix than the local cache
 * @param tooSlow misses for which fetching would have taken longer than the prefill
 * @param damaged misses because of failed validation
 * @param tokens that were fetched
 * @param bytes that were fetched
 * @param secondsSaved estimated prefill time minus fetch time
 * @param saved prefixes that were handed to the store
 * @param dropped prefixes that were not, because the queue was full
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
