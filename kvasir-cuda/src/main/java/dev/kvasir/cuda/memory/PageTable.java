package dev.kvasir.cuda.memory;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The page table of a batch, on the device. Packed pages of a sequence precede its fp16 pages. Keys
 * carry their positions, so attention needs no further order. A step writes its own token to the
 * last page; all other pages are final before the step.
 *
 * <pre>
 * sequence  u32 first entry; u32 packed pages; u32 fp16 pages; u32 table pages
 * entry     u64 address of the page of the first KV head, a multiple of 64 | tokens in it - 1
 *           (table pages: number of table entries - 1)
 * </pre>
 *
 * Pages of further KV heads follow that of the first. If layers have pages of different widths,
 * each group of layers has its own list of sequences; further lists follow the entries. The table
 * is filled in arrays and copied at once, because each off-heap access takes microseconds in
 * interpreted code.
 */
public final class PageTable implements AutoCloseable {
  /** Groups of layers that may have pages of their own. */
  public static final int MAX_GROUPS = 3;

  /** Fields per sequence. */
  private static final int FIELDS = 4;

  private static final int PACKED_PAGES = 1;
  private static final int FP16_PAGES = 2;
  private static final int TABLE_PAGES = 3;

  private final int maxSequences;
  private final int maxEntries;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment all; // sequences, entries, sequences of further groups
  private final int[] sequences; // (sequences, 4), as uploaded
  private final int[][] further; // the same for groups after the first
  private final int[] narrowPages; // by sequence, if pages are requantized
  private final long[] entries;
  private final DeviceMemory memory;
  private int sequenceCount;
  private int entryCount;
  private int groupCount = 1;

  public PageTable(CudaContext context, int maxSequences, int maxEntries) {
    this.maxSequences = maxSequences;
    this.maxEntries = maxEntries;
    this.sequences = new int[FIELDS * maxSequences];
    this.narrowPages = new int[maxSequences];
    this.further = new int[MAX_GROUPS - 1][FIELDS * maxSequences];
    this.entries = new long[maxEntries];
    this.all = arena.allocate(MAX_GROUPS * sequenceBytes() + (long) Long.BYTES * maxEntries, 16);
    this.memory = context.allocate(all.byteSize());
  }

  private long sequenceBytes() {
    return (long) Integer.BYTES * sequences.length;
  }

  /** Removes all sequences. */
  public void clear() {
    sequenceCount = 0;
    entryCount = 0;
    groupCount = 1;
  }

  /**
   * Adds a sequence from entries of full pages. One copy replaces a call per page, which would take
   * longer than the step.
   *
   * @param full addresses with 63 in their lower bits, packed pages first
   * @param lastTokens tokens in the last fp16 page
   * @param tables entries of the sequence's table pages
   */
  public void addSequence(
      long[] full, int packedPages, int fp16Pages, int lastTokens, long[] tables) {
    addSequence();
    sequences[FIELDS * (sequenceCount - 1) + PACKED_PAGES] = packedPages;
    sequences[FIELDS * (sequenceCount - 1) + FP16_PAGES] = fp16Pages;
    addEntries(full, packedPages + fp16Pages, lastTokens);
    for (long table : tables) {
      addEntry(table & -Fp16Page.TOKENS, (int) (table & Fp16Page.TOKENS - 1) + 1, TABLE_PAGES);
    }
  }

  /**
   * Adds a sequence whose pages are requantized.
   *
   * @param narrow 4-bit pages, then 2-bit pages
   */
  public void addSequence(
      long[] full,
      int packedPages,
      int fp16Pages,
      int lastTokens,
      long[] narrow,
      int fourBitPages,
      int twoBitPages) {
    addSequence(full, packedPages, fp16Pages, lastTokens, narrow);
    sequences[FIELDS * (sequenceCount - 1) + TABLE_PAGES] = fourBitPages | twoBitPages << 16;
    narrowPages[sequenceCount - 1] = fourBitPages + twoBitPages;
  }

  /**
   * Adds the pages of the last sequence as another group of layers sees them. All groups have
   * equally many pages.
   *
   * @param group 1 or 2
   */
  public void addGroup(
      int group,
      long[] full,
      int packedPages,
      int fp16Pages,
      int lastTokens,
      long[] narrow,
      int fourBitPages,
      int twoBitPages) {
    int[] fields = further[group - 1];
    int at = FIELDS * (sequenceCount - 1);
    fields[at] = entryCount;
    fields[at + PACKED_PAGES] = packedPages;
    fields[at + FP16_PAGES] = fp16Pages;
    fields[at + TABLE_PAGES] = fourBitPages | twoBitPages << 16;
    addEntries(full, packedPages + fp16Pages, lastTokens);
    addTables(narrow);
    groupCount = Math.max(groupCount, group + 1);
  }

  /**
   * Adds pages that belong to no sequence; the caller counts them.
   *
   * @param lastTokens tokens in the last page
   */
  public void addEntries(long[] full, int count, int lastTokens) {
    if (entryCount + count > maxEntries) {
      throw new IllegalStateException("the table is full: %d pages".formatted(maxEntries));
    }
    System.arraycopy(full, 0, entries, entryCount, count);
    entryCount += count;
    if (count > 0) {
      entries[entryCount - 1] = full[count - 1] & -Fp16Page.TOKENS | lastTokens - 1;
    }
  }

  /** Adds table entries for those pages and returns the index of the first. */
  public int addTables(long[] tables) {
    if (entryCount + tables.length > maxEntries) {
      throw new IllegalStateException("the table is full: %d pages".formatted(maxEntries));
    }
    System.arraycopy(tables, 0, entries, entryCount, tables.length);
    entryCount += tables.length;
    return entryCount - tables.length;
  }

  /** Starts another sequence; pages are added to it next. */
  public void addSequence() {
    if (sequenceCount == maxSequences) {
      throw new IllegalStateException("the table is full: %d sequences".formatted(maxSequences));
    }
    sequences[FIELDS * sequenceCount] = entryCount;
    sequences[FIELDS * sequenceCount + PACKED_PAGES] = 0;
    sequences[FIELDS * sequenceCount + FP16_PAGES] = 0;
    sequences[FIELDS * sequenceCount + TABLE_PAGES] = 0;
    narrowPages[sequenceCount] = 0;
    sequenceCount++;
  }

  public void addPacked(long address) {
    if (fp16Pages(sequenceCount - 1) > 0) {
      throw new IllegalStateException("packed pages come before fp16 pages");
    }
    addEntry(address, Fp16Page.TOKENS, PACKED_PAGES);
  }

  /**
   * @param tokens number of tokens in the page
   */
  public void addFp16(long address, int tokens) {
    if (tokens < 1 || tokens > Fp16Page.TOKENS) {
      throw new IllegalArgumentException("tokens is %d; expected 1 to 64".formatted(tokens));
    }
    addEntry(address, tokens, FP16_PAGES);
  }

  /**
   * Adds a table page to the sequence, after all of its other pages.
   *
   * @param count number of table entries in the page, up to 64
   */
  public void addTable(long address, int count) {
    addEntry(address, count, TABLE_PAGES);
  }

  private void addEntry(long address, int tokens, int counter) {
    if (entryCount == maxEntries) {
      throw new IllegalStateException("the table is full: %d pages".formatted(maxEntries));
    }
    if ((address & Fp16Page.TOKENS - 1) != 0) {
      throw new IllegalArgumentException(
          "a page is at %x; expected a multiple of 64".formatted(address));
    }
    entries[entryCount++] = address | tokens - 1;
    sequences[FIELDS * (sequenceCount - 1) + counter]++;
  }

  public int sequences() {
    return sequenceCount;
  }

  public int entries() {
    return entryCount;
  }

  /** Returns the index of a sequence's first entry. */
  public int firstEntry(int sequence) {
    return sequences[FIELDS * sequence];
  }

  public int packedPages(int sequence) {
    return sequences[FIELDS * sequence + PACKED_PAGES];
  }

  public int fp16Pages(int sequence) {
    return sequences[FIELDS * sequence + FP16_PAGES];
  }

  public int pages(int sequence) {
    return packedPages(sequence) + fp16Pages(sequence) + narrowPages[sequence];
  }

  /** Uploads the table, in stream order. */
  public void upload(CudaStream stream) {
    MemorySegment.copy(sequences, 0, all, JAVA_INT, 0, FIELDS * sequenceCount);
    MemorySegment.copy(entries, 0, all, JAVA_LONG, sequenceBytes(), entryCount);
    memory.upload(stream, 0, all, sequenceBytes() + (long) Long.BYTES * entryCount);
    for (int group = 1; group < groupCount; group++) {
      long bytes = (long) Integer.BYTES * FIELDS * sequenceCount;
      MemorySegment part = all.asSlice(groupOffset(group), bytes);
      MemorySegment.copy(further[group - 1], 0, part, JAVA_INT, 0, FIELDS * sequenceCount);
      memory.upload(stream, groupOffset(group), part, bytes);
    }
  }

  private long groupOffset(int group) {
    return group == 0 ? 0 : group * sequenceBytes() + (long) Long.BYTES * maxEntries;
  }

  public long sequencesAddress() {
    return sequencesAddress(0);
  }

  /** Returns the device address of the sequences as a group of layers sees them. */
  public long sequencesAddress(int group) {
    return memory.address() + groupOffset(group);
  }

  public long entriesAddress() {
    return memory.address() + sequenceBytes();
  }

  @Override
  public void close() {
    Resources.closeAll(memory, Resources.closeOnce(arena));
  }
}
