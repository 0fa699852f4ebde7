package dev.kvasir.cuda.formats;

/**
 * The quantization tables of one sequence, stored in table pages: data that its packed pages are
 * quantized and read with. The defaults are those of tables that store nothing.
 */
public interface SequenceTables {
  /** Tables of a format without any. */
  SequenceTables NONE = new SequenceTables() {};

  long[] NO_ENTRIES = {};

  /** Returns the number of allocated table pages. */
  default int pages() {
    return 0;
  }

  /**
   * Allocates what {@code blocks} blocks may need, including packed ones. Allocates everything or
   * nothing.
   *
   * @throws dev.kvasir.memory.MemoryFullException if there is too little memory
   */
  default void reserve(int blocks) {}

  /**
   * Prepares blocks for quantization and returns their metadata, {@link
   * PageQuantizer#metadataLongs} for each block. Called without the lock.
   *
   * @throws dev.kvasir.memory.MemoryFullException if there is no memory for extra data; nothing has
   *     changed then
   * @param position position of the first block
   * @param fp16 their fp16 pages
   */
  default long[] quantizationMetadata(int position, long[] fp16) {
    return NO_ENTRIES;
  }

  /** Called when a token is appended, before its step. */
  default void observeToken(int position, int token) {}

  /** Called before a token's query attends, once for all layers. */
  default void observeQuery(int position) {}

  /** Returns the bytes that packed blocks take outside pages. */
  default long extraBytes() {
    return 0;
  }

  /** Returns the bytes of codes outside pages. */
  default long extraCodeBytes() {
    return 0;
  }

  /** Initializes the tables with dummy data at a position, for benchmarks. */
  default void useDummy(int position) {}

  /** Returns the metadata of blocks that are already quantized. */
  default long[] dequantizationMetadata(int blocks) {
    return NO_ENTRIES;
  }

  /** Returns the metadata of quantized blocks from {@code first} on. */
  default long[] dequantizationMetadata(int first, int blocks) {
    return dequantizationMetadata(blocks);
  }

  /**
   * Returns the entries for a {@code PageTable}: addresses with the number of table entries less
   * one in the lower bits.
   */
  default long[] entries() {
    return NO_ENTRIES;
  }

  /** Returns an independent copy. */
  default SequenceTables fork() {
    return this;
  }

  /**
   * Drops data of blocks that do not end within the first {@code tokens} tokens.
   *
   * @param blocks number of blocks that still have pages
   */
  default void truncate(int tokens, int blocks) {}
}
