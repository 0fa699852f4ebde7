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
        public long[] toPack(int position, long[] halves) {
          return NOTHING;
        }

        @Override
        public void pretend(int position) {}

        @Override
        public long[] toUnpack(int blocks) {
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
        public void keep(int tokens, int blocks) {}
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
   * {@link PagePacker#besideLongs} has it. Without the lock.
   *
   * @param position of the first one
   * @param halves their pages
   */
  long[] toPack(int position, long[] halves);

  /** Has learned whatever it may from blocks at a position, to measure with. */
  void pretend(int position);

  /** The same of blocks that are packed already. */
  long[] toUnpack(int blocks);

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
  void keep(int tokens, int blocks);
}
