package dev.kvasir.cuda.formats.patternkv;

import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.formats.SequenceTables;
import dev.kvasir.cuda.memory.Fp16Page;
import java.util.Arrays;

/**
 * The patterns of one sequence. Patterns are mined from the first quantized blocks together. Every
 * later block adds one pattern before it is quantized. This class tracks the addresses of patterns
 * and the blocks that added them, like {@code PatternkvSequence} on the host.
 */
final class PatternBanks implements SequenceTables {
  private static final int BLOCK = Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;
  private static final int MAX_PATTERNS =
      PatternPage.MAX_PATTERNS - 1; // one index means no pattern

  private final CacheResources resources;
  private final PatternkvFormat format;
  private final PatternMiner miner;
  private long[] banks = {};
  private int mined; // number of patterns
  private int minedAt; // position of the first mined block
  private int covered; // blocks before this position cannot add patterns any more
  private int[] addedAt = {}; // positions of blocks that added a pattern, in order

  PatternBanks(CacheResources resources, PatternkvFormat format, PatternMiner miner) {
    this.resources = resources;
    this.format = format;
    this.miner = miner;
  }

  /** Returns the number of pages for the maximum number of patterns. */
  static int banks(PatternkvFormat format, int blocks) {
    if (blocks == 0 || format.sides() == 0) {
      return 0;
    }
    int maxPatterns = Math.min(MAX_PATTERNS, format.patterns() + (format.grows() ? blocks : 0));
    return Math.ceilDiv(maxPatterns, PatternPage.BANK_PATTERNS);
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
      long[] more = resources.tablePool().allocate(missing);
      banks = Arrays.copyOf(banks, banks.length + missing);
      System.arraycopy(more, 0, banks, banks.length - missing, missing);
    }
  }

  @Override
  public long[] quantizationMetadata(int position, long[] fp16) {
    int blocks = fp16.length / Fp16Page.BLOCK_PAGES;
    if (mined == 0) {
      miner.mine(resources, position, fp16, banks);
      mined = miner.count(fp16.length);
      minedAt = position;
      covered = position + BLOCK * blocks;
    }
    long[] metadata = new long[blocks * PatternPageQuantizer.METADATA_LONGS];
    for (int block = 0; block < blocks; block++) {
      int fresh = cover(position + BLOCK * block);
      describe(metadata, block, position + BLOCK * block, fresh);
    }
    return metadata;
  }

  @Override
  public void useDummy(int position) {
    if (mined == 0 && banks.length > 0) {
      mined = format.patterns();
      minedAt = position;
      covered = position + BLOCK;
    }
  }

  /** Adds a pattern for a block if possible and returns its index, or 256 if none was added. */
  private int cover(int position) {
    if (position < covered) {
      return PatternPage.MAX_PATTERNS;
    }
    covered = position + BLOCK;
    int last = addedAt.length == 0 ? minedAt : addedAt[addedAt.length - 1];
    if (!format.grows() || format.sides() == 0 || count() == MAX_PATTERNS || last >= position) {
      return PatternPage.MAX_PATTERNS;
    }
    addedAt = Arrays.copyOf(addedAt, addedAt.length + 1);
    addedAt[addedAt.length - 1] = position;
    return count() - 1;
  }

  private void describe(long[] metadata, int block, int position, int fresh) {
    int at = block * PatternPageQuantizer.METADATA_LONGS;
    System.arraycopy(banks, 0, metadata, at, banks.length);
    metadata[at + PatternPage.MAX_BANKS] = count() | (long) fresh << Integer.SIZE;
    metadata[at + PatternPage.MAX_BANKS + 1] =
        format.rotation().map(keys -> keys.turn(position)).orElse(0);
  }

  @Override
  public long[] dequantizationMetadata(int first, int blocks) {
    int sinks = resources.cacheConfig().sinks();
    long[] metadata = new long[blocks * PatternPageQuantizer.METADATA_LONGS];
    for (int block = 0; block < blocks; block++) {
      describe(metadata, block, sinks + BLOCK * (first + block), PatternPage.MAX_PATTERNS);
    }
    return metadata;
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
    PatternBanks fork = new PatternBanks(resources, format, miner);
    if (banks.length > 0) {
      fork.banks = resources.tablePool().allocate(banks.length);
      try {
        resources.submit(() -> copyTo(fork.banks));
      } catch (RuntimeException | Error e) {
        fork.truncateBanks(0);
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
      resources.operations().copyTable(banks[i], others[i]);
    }
  }

  @Override
  public void truncate(int tokens, int blocks) {
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
    truncateBanks(
        Math.max(banks(format, blocks), Math.ceilDiv(count(), PatternPage.BANK_PATTERNS)));
  }

  private void truncateBanks(int count) {
    for (int i = count; i < banks.length; i++) {
      resources.tablePool().release(banks[i]);
    }
    banks = Arrays.copyOf(banks, Math.min(count, banks.length));
  }
}
