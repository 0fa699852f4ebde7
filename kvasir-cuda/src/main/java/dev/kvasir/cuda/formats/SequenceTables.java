package dev.kvasir.cuda.formats;

/**
 * The quantization tables of one sequence, stored in table pages: data that its packed pages are
 * quantized and read with.
 */
public interface SequenceTables {
  SequenceTables NONE =
      new SequenceTables() {
        private static final long[] NOTHING = {};

        @Override
        public int pages() {
          return 0;
        }

        @Override
        public void reserve(int blocks) {}

        @Override
        public long[] quantizationMetadata(int position, long[] fp16) {
          return NOTHING;
        }

        @Override
        public void useDummy(int position) {}

        @Override
        public long[] dequantizationMetadata(int blocks) {
          return NOTHING;
        }

        @Override
        public long[] entries() {
          return NOTHING;
        }

        @Override
        public SequenceTables fork() {
          return this;
        }

        @Override
        public void truncate(int tokens, int blocks) {}
      };

  /** Returns the number of allocated table pages. */
  int pages();

  /**
   * Allocates what {@code blocks} blocks may need, including packed ones. Allocates everything or
   * nothing.
   *
   * @throws dev.kvasir.memory.MemoryFullException if there is too little memory
   */
  void reserve(int blocks);

  /**
   * Prepares blocks for quantization and returns their metadata, {@link
   * PageQuantizer#metadataLongs} for each block. Called without the lock.
   *
   * @throws dev.kvasir.memory.MemoryFullException if there is no memory for extra data; nothing has
   *     changed then
   * @param position position of the first block
   * @param fp16 their fp16 pages
   */
  long[] quantizationMetadata(int position, long[] fp16);

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
  void useDummy(int position);

  /** Returns the metadata of blocks that are already quantized. */
  long[] dequantizationMetadata(int blocks);

  /**
   * Returns the entries for a {@code PageTable}: addresses with the number of table entries less
   * one in the lower bits.
   */
  long[] entries();

  /** Returns an independent copy. */
  SequenceTables fork();

  /**
   * Drops data of blocks that do not end within the first {@code tokens} tokens.
   *
   * @param blocks number of blocks that still have pages
   */
  void truncate(int tokens, int blocks);
}
