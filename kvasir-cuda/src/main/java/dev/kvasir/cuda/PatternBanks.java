package dev.kvasir.cuda;

import java.util.Arrays;

/**
 * The patterns of one sequence. The first blocks to be packed are mined for patterns together, on
 * the host; every later one adds a pattern of its own, on the device, before it is packed. What is
 * known here is where they lie and which blocks brought them, as {@code PatternkvSequence} has it.
 */
final class PatternBanks implements SequenceTables {
  private static final int BLOCK = SequencePages.BLOCK_PAGES * HalfPage.TOKENS;
  private static final int MOST = PatternPage.MOST_PATTERNS - 1; // one says that there is none

  private final KindPages home;
  private final PatternFormat format;
  private long[] banks = {};
  private int mined; // patterns
  private int minedAt; // position of the first block that was mined
  private int covered; // blocks before this position have had their chance to add patterns
  private int[] addedAt = {}; // positions of blocks that brought one each, in order

  PatternBanks(KindPages home, PatternFormat format) {
    this.home = home;
    this.format = format;
  }

  /** Pages for as many patterns as so many blocks have at the most. */
  static int banks(PatternFormat format, int blocks) {
    if (blocks == 0) {
      return 0;
    }
    int most = Math.min(MOST, format.patterns() + (format.grows() ? blocks : 0));
    return Math.ceilDiv(most, PatternPage.BANK_PATTERNS);
  }

  private int count() {
    return mined + addedAt.length;
  }

  @Override
  public int pages() {
    return banks.length;
  }

  @Override
  public void reserve(int blocks) {
    int missing = banks(format, blocks) - banks.length;
    if (missing > 0) {
      long[] more = home.tables().take(missing);
      banks = Arrays.copyOf(banks, banks.length + missing);
      System.arraycopy(more, 0, banks, banks.length - missing, missing);
    }
  }

  @Override
  public long[] toPack(int position, long[] halves) {
    int blocks = halves.length / SequencePages.BLOCK_PAGES;
    if (mined == 0) {
      PatternMine mine = new PatternMine(home, halves);
      int found = Math.min(format.patterns(), mine.samples());
      mine.bring(found, banks);
      mined = found;
      minedAt = position;
      covered = position + BLOCK * blocks;
    }
    long[] beside = new long[blocks * PatternPacker.BESIDE_LONGS];
    for (int block = 0; block < blocks; block++) {
      int fresh = cover(position + BLOCK * block);
      describe(beside, block, count(), fresh);
    }
    return beside;
  }

  @Override
  public void pretend(int position) {
    if (mined == 0 && banks.length > 0) {
      mined = format.patterns();
      minedAt = position;
      covered = position + BLOCK;
    }
  }

  /** Lets a block add a pattern where it may; its index, or 256 for none. */
  private int cover(int position) {
    if (position < covered) {
      return PatternPage.MOST_PATTERNS;
    }
    covered = position + BLOCK;
    int last = addedAt.length == 0 ? minedAt : addedAt[addedAt.length - 1];
    if (!format.grows() || count() == MOST || last >= position) {
      return PatternPage.MOST_PATTERNS;
    }
    addedAt = Arrays.copyOf(addedAt, addedAt.length + 1);
    addedAt[addedAt.length - 1] = position;
    return count() - 1;
  }

  private void describe(long[] beside, int block, int count, int fresh) {
    int at = block * PatternPacker.BESIDE_LONGS;
    System.arraycopy(banks, 0, beside, at, banks.length);
    beside[at + PatternPage.MOST_BANKS] = count | (long) fresh << Integer.SIZE;
  }

  @Override
  public long[] toUnpack(int blocks) {
    long[] beside = new long[blocks * PatternPacker.BESIDE_LONGS];
    for (int block = 0; block < blocks; block++) {
      describe(beside, block, count(), PatternPage.MOST_PATTERNS);
    }
    return beside;
  }

  @Override
  public long[] entries() {
    int used = Math.ceilDiv(count(), PatternPage.BANK_PATTERNS);
    long[] entries = new long[used];
    for (int i = 0; i < used; i++) {
      int patterns = Math.min(PatternPage.BANK_PATTERNS, count() - i * PatternPage.BANK_PATTERNS);
      entries[i] = banks[i] | patterns - 1;
    }
    return entries;
  }

  @Override
  public SequenceTables fork() {
    PatternBanks fork = new PatternBanks(home, format);
    if (banks.length > 0) {
      fork.banks = home.tables().take(banks.length);
      try {
        home.move(() -> copyTo(fork.banks));
      } catch (RuntimeException | Error e) {
        fork.keepBanks(0);
        throw e;
      }
    }
    fork.mined = mined;
    fork.minedAt = minedAt;
    fork.covered = covered;
    fork.addedAt = addedAt;
    return fork;
  }

  private void copyTo(long[] others) {
    for (int i = 0; i < banks.length; i++) {
      home.moves().copyTable(banks[i], others[i]);
    }
  }

  @Override
  public void keep(int tokens, int blocks) {
    int added = addedAt.length;
    while (added > 0 && addedAt[added - 1] + BLOCK > tokens) {
      added--;
    }
    addedAt = Arrays.copyOf(addedAt, added);
    if (mined > 0 && minedAt + BLOCK > tokens) {
      mined = 0;
      minedAt = 0;
      covered = 0;
    }
    covered = minedAt + Math.max(0, Math.min(tokens, covered) - minedAt) / BLOCK * BLOCK;
    keepBanks(Math.max(banks(format, blocks), Math.ceilDiv(count(), PatternPage.BANK_PATTERNS)));
  }

  private void keepBanks(int count) {
    for (int i = count; i < banks.length; i++) {
      home.tables().giveBack(banks[i]);
    }
    banks = Arrays.copyOf(banks, Math.min(count, banks.length));
  }
}
