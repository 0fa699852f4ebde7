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
 * sequence  u32 first entry; u32 packed pages; u32 pages of halves; u32 -
 * entry     u64 address of the page of the first KV head, a multiple of 64 | tokens in it - 1
 * </pre>
 *
 * Pages of further KV heads follow that of the first.
 */
public final class PageTable implements AutoCloseable {
  private static final int SEQUENCE_BYTES = 16;

  private final int mostSequences;
  private final int mostEntries;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment all; // sequences, then entries
  private final MemorySegment sequences;
  private final MemorySegment entries;
  private final DeviceMemory memory;
  private int sequenceCount;
  private int entryCount;

  public PageTable(Context context, int mostSequences, int mostEntries) {
    this.mostSequences = mostSequences;
    this.mostEntries = mostEntries;
    long sequenceBytes = (long) SEQUENCE_BYTES * mostSequences;
    this.all = arena.allocate(sequenceBytes + (long) Long.BYTES * mostEntries, 16);
    this.sequences = all.asSlice(0, sequenceBytes);
    this.entries = all.asSlice(sequenceBytes);
    this.memory = context.allocate(all.byteSize());
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
   */
  void addSequence(long[] full, int packedPages, int halfPages, int lastTokens) {
    addSequence();
    sequences.set(JAVA_INT, at(sequenceCount - 1) + 4, packedPages);
    sequences.set(JAVA_INT, at(sequenceCount - 1) + 8, halfPages);
    addEntries(full, packedPages + halfPages, lastTokens);
  }

  /**
   * Adds pages of no sequence, for whoever counts them by itself.
   *
   * @param lastTokens that the last page has in it
   */
  void addEntries(long[] full, int count, int lastTokens) {
    if (entryCount + count > mostEntries) {
      throw new IllegalStateException("the table is full: %d pages".formatted(mostEntries));
    }
    MemorySegment.copy(full, 0, entries, JAVA_LONG, (long) Long.BYTES * entryCount, count);
    entryCount += count;
    long last = full[count - 1] & -HalfPage.TOKENS | lastTokens - 1;
    entries.setAtIndex(JAVA_LONG, entryCount - 1, last);
  }

  /** Begins another sequence, which pages are then added to. */
  public void addSequence() {
    if (sequenceCount == mostSequences) {
      throw new IllegalStateException("the table is full: %d sequences".formatted(mostSequences));
    }
    sequences.set(JAVA_INT, at(sequenceCount), entryCount);
    sequences.set(JAVA_INT, at(sequenceCount) + 4, 0);
    sequences.set(JAVA_INT, at(sequenceCount) + 8, 0);
    sequenceCount++;
  }

  public void addPacked(long address) {
    if (halfPages(sequenceCount - 1) > 0) {
      throw new IllegalStateException("packed pages come before those of halves");
    }
    addEntry(address, HalfPage.TOKENS, 4);
  }

  /**
   * @param tokens that are in it, the first ones of the page
   */
  public void addHalves(long address, int tokens) {
    if (tokens < 1 || tokens > HalfPage.TOKENS) {
      throw new IllegalArgumentException("tokens is %d; expected 1 to 64".formatted(tokens));
    }
    addEntry(address, tokens, 8);
  }

  private void addEntry(long address, int tokens, int counter) {
    if (entryCount == mostEntries) {
      throw new IllegalStateException("the table is full: %d pages".formatted(mostEntries));
    }
    if ((address & HalfPage.TOKENS - 1) != 0) {
      throw new IllegalArgumentException(
          "a page lies at %x; expected a multiple of 64".formatted(address));
    }
    entries.setAtIndex(JAVA_LONG, entryCount++, address | tokens - 1);
    long count = at(sequenceCount - 1) + counter;
    sequences.set(JAVA_INT, count, sequences.get(JAVA_INT, count) + 1);
  }

  private static long at(int sequence) {
    return (long) SEQUENCE_BYTES * sequence;
  }

  public int sequences() {
    return sequenceCount;
  }

  /** Of all sequences. */
  int entries() {
    return entryCount;
  }

  int packedPages(int sequence) {
    return sequences.get(JAVA_INT, at(sequence) + 4);
  }

  int halfPages(int sequence) {
    return sequences.get(JAVA_INT, at(sequence) + 8);
  }

  int pages(int sequence) {
    return packedPages(sequence) + halfPages(sequence);
  }

  /** Brings it to the device, in the order of a stream. */
  public void upload(Stream stream) {
    memory.upload(stream, 0, all, sequences.byteSize() + (long) Long.BYTES * entryCount);
  }

  long sequencesAddress() {
    return memory.address();
  }

  long entriesAddress() {
    return memory.address() + sequences.byteSize();
  }

  @Override
  public void close() {
    memory.close();
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }
}
