package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Which pages the sequences of a batch have, on the device. Packed pages of a sequence come before
 * those of halves; keys carry their positions, so attention asks for no other order. The last page
 * is the one that the step's own token is written to, and all others are final before a step
 * begins.
 *
 * <pre>
 * sequence  u32 first entry; u32 packed pages; u32 pages of halves; u32 pages of tables
 * entry     u64 address of the page of the first KV head, a multiple of 64 | tokens in it - 1
 *           (of tables: whatever is counted there)
 * </pre>
 *
 * Pages of further KV heads follow that of the first. It is filled in arrays and copied at once:
 * code that is not compiled yet takes microseconds for each access to memory outside the heap.
 */
public final class PageTable implements AutoCloseable {
  /** Of a sequence. */
  private static final int FIELDS = 4;

  private static final int PACKED_PAGES = 1;
  private static final int FP16_PAGES = 2;
  private static final int TABLE_PAGES = 3;

  private final int maxSequences;
  private final int maxEntries;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment all; // sequences, then entries
  private final int[] sequences; // (sequences, 4), as they are brought
  private final int[] narrowPages; // of sequences whose pages shrink
  private final long[] entries;
  private final DeviceMemory memory;
  private int sequenceCount;
  private int entryCount;

  public PageTable(CudaContext context, int maxSequences, int maxEntries) {
    this.maxSequences = maxSequences;
    this.maxEntries = maxEntries;
    this.sequences = new int[FIELDS * maxSequences];
    this.narrowPages = new int[maxSequences];
    this.entries = new long[maxEntries];
    this.all = arena.allocate(sequenceBytes() + (long) Long.BYTES * maxEntries, 16);
    this.memory = context.allocate(all.byteSize());
  }

  private long sequenceBytes() {
    return (long) Integer.BYTES * sequences.length;
  }

  /** Forgets all sequences. */
  public void clear() {
    sequenceCount = 0;
    entryCount = 0;
  }

  /**
   * Adds a sequence whose pages are known as entries of full pages: a copy, where one call for each
   * page would take longer than the step.
   *
   * @param full addresses with 63 in their lower bits, packed pages first
   * @param lastTokens that the last page of halves has in it
   * @param tables entries of what the sequence has beside its pages
   */
  void addSequence(long[] full, int packedPages, int halfPages, int lastTokens, long[] tables) {
    addSequence();
    sequences[FIELDS * (sequenceCount - 1) + PACKED_PAGES] = packedPages;
    sequences[FIELDS * (sequenceCount - 1) + FP16_PAGES] = halfPages;
    addEntries(full, packedPages + halfPages, lastTokens);
    for (long table : tables) {
      addEntry(table & -Fp16Page.TOKENS, (int) (table & Fp16Page.TOKENS - 1) + 1, TABLE_PAGES);
    }
  }

  /**
   * The same of pages that shrink.
   *
   * @param narrow those of four bits, then those of two
   */
  void addSequence(
      long[] full,
      int packedPages,
      int halfPages,
      int lastTokens,
      long[] narrow,
      int fours,
      int twos) {
    addSequence(full, packedPages, halfPages, lastTokens, narrow);
    sequences[FIELDS * (sequenceCount - 1) + TABLE_PAGES] = fours | twos << 16;
    narrowPages[sequenceCount - 1] = fours + twos;
  }

  /**
   * Adds pages of no sequence, for whoever counts them by itself.
   *
   * @param lastTokens that the last page has in it
   */
  void addEntries(long[] full, int count, int lastTokens) {
    if (entryCount + count > maxEntries) {
      throw new IllegalStateException("the table is full: %d pages".formatted(maxEntries));
    }
    System.arraycopy(full, 0, entries, entryCount, count);
    entryCount += count;
    entries[entryCount - 1] = full[count - 1] & -Fp16Page.TOKENS | lastTokens - 1;
  }

  /** Adds what those pages have beside them; the number of the first entry. */
  int addTables(long[] tables) {
    if (entryCount + tables.length > maxEntries) {
      throw new IllegalStateException("the table is full: %d pages".formatted(maxEntries));
    }
    System.arraycopy(tables, 0, entries, entryCount, tables.length);
    entryCount += tables.length;
    return entryCount - tables.length;
  }

  /** Begins another sequence, which pages are then added to. */
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
      throw new IllegalStateException("packed pages come before those of halves");
    }
    addEntry(address, Fp16Page.TOKENS, PACKED_PAGES);
  }

  /**
   * @param tokens that are in it, the first ones of the page
   */
  public void addFp16(long address, int tokens) {
    if (tokens < 1 || tokens > Fp16Page.TOKENS) {
      throw new IllegalArgumentException("tokens is %d; expected 1 to 64".formatted(tokens));
    }
    addEntry(address, tokens, FP16_PAGES);
  }

  /**
   * Adds what the sequence has beside its pages, when it has all of those.
   *
   * @param count of what is in it, up to 64
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
          "a page lies at %x; expected a multiple of 64".formatted(address));
    }
    entries[entryCount++] = address | tokens - 1;
    sequences[FIELDS * (sequenceCount - 1) + counter]++;
  }

  public int sequences() {
    return sequenceCount;
  }

  /** Of all sequences. */
  int entries() {
    return entryCount;
  }

  int packedPages(int sequence) {
    return sequences[FIELDS * sequence + PACKED_PAGES];
  }

  int fp16Pages(int sequence) {
    return sequences[FIELDS * sequence + FP16_PAGES];
  }

  int pages(int sequence) {
    return packedPages(sequence) + fp16Pages(sequence) + narrowPages[sequence];
  }

  /** Brings it to the device, in the order of a stream. */
  public void upload(CudaStream stream) {
    MemorySegment.copy(sequences, 0, all, JAVA_INT, 0, FIELDS * sequenceCount);
    MemorySegment.copy(entries, 0, all, JAVA_LONG, sequenceBytes(), entryCount);
    memory.upload(stream, 0, all, sequenceBytes() + (long) Long.BYTES * entryCount);
  }

  long sequencesAddress() {
    return memory.address();
  }

  long entriesAddress() {
    return memory.address() + sequenceBytes();
  }

  @Override
  public void close() {
    Resources.closeAll(memory, Resources.closeOnce(arena));
  }
}
