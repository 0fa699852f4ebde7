package dev.kvasir.cuda;

/**
 * What one sequence has beside its pages, in pages of tables: what its packed pages were packed
 * with, and are read with.
 */
interface SequenceTables {
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
        public long[] quantizationMetadata(int position, long[] halves) {
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

  /** That are taken. */
  int pages();

  /**
   * Takes what so many blocks may need, packed ones included; all or nothing.
   *
   * @throws dev.kvasir.memory.MemoryFullException where there is not as much
   */
  void reserve(int blocks);

  /**
   * Learns from blocks that are about to be packed; answers what each takes beside its pages, as
   * {@link PageQuantizer#metadataLongs} has it. Without the lock.
   *
   * @throws dev.kvasir.memory.MemoryFullException where there is no memory for what they take
   *     elsewhere than in pages; nothing has changed then
   * @param position of the first one
   * @param halves their pages
   */
  long[] quantizationMetadata(int position, long[] halves);

  /** A token's query is about to attend, in all layers. */
  default void observeQuery(int position) {}

  /** Bytes that its packed blocks take elsewhere than in pages. */
  default long extraBytes() {
    return 0;
  }

  /** Of codes alone. */
  default long extraCodeBytes() {
    return 0;
  }

  /** Has learned whatever it may from blocks at a position, to measure with. */
  void useDummy(int position);

  /** The same of blocks that are packed already. */
  long[] dequantizationMetadata(int blocks);

  /**
   * As a {@link PageTable} names them: addresses, and in the lower bits what is in each, less one.
   */
  long[] entries();

  /** A copy, since both may go on in their own ways. */
  SequenceTables fork();

  /**
   * Forgets what was learned of blocks that do not end within so many tokens.
   *
   * @param blocks that there are still pages for
   */
  void truncate(int tokens, int blocks);
}
