package dev.kvasir.cuda.formats;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.memory.PageTable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The splits of a batch, in the order in which thread blocks take them one after another. A block
 * has consecutive splits with about as many pages as any other block. Which block computes a split
 * does not change its bits, so the division may depend on the whole batch.
 *
 * <pre>
 * blocks  u32 first turn; one more has the number of turns
 * turns   u32 first entry; u32 packed pages; u32 first and u32 end of its packed pages;
 *         u32 first part; u16 fp16 pages; u16 row; u16 sequence; u16 split; u32 splits
 * </pre>
 */
final class SplitTurns implements AutoCloseable {
  /** Maximum splits of a block, which keeps them in shared memory. */
  private static final int MAX_TURNS = 24;

  private static final int FIELDS = 8;

  /** Shared memory of a block for its turns. */
  static final int SHARED_BYTES = MAX_TURNS * FIELDS * Integer.BYTES;

  /** A turn's start and end take about as long as some pages. */
  private static final int TURN_PAGES = 2;

  /** An fp16 page takes about as long as some packed pages. */
  private static final int FP16_PAGES = 2;

  private final CudaContext context;
  private final CudaStream stream;
  private final int rows;
  private Arena arena; // of the host's memory
  private MemorySegment host;
  private DeviceMemory memory;
  private int capacity; // turns that there is memory for
  private int[] firstTurns;
  private int[] turns = new int[FIELDS];
  private int[] spare = new int[FIELDS];
  private int divisor; // blocks wanted when the turns were divided
  private int turnCount;
  private int blockCount;

  /**
   * @param rows thread blocks of a sequence without splits: KV heads times blocks of heads
   * @param capacity splits of a batch over all rows that there is memory for from the start
   */
  SplitTurns(CudaContext context, CudaStream stream, int rows, int capacity) {
    this.context = context;
    this.stream = stream;
    this.rows = rows;
    allocate(capacity);
  }

  private void allocate(int count) {
    capacity = count;
    int multiprocessors = context.device().multiprocessors();
    firstTurns = new int[multiprocessors + Math.ceilDiv(count, MAX_TURNS) + 1];
    arena = Arena.ofShared();
    host = arena.allocate(turnsAt() + (long) Integer.BYTES * FIELDS * count, 16);
    memory = context.allocate(host.byteSize());
  }

  private long turnsAt() {
    return Math.ceilDiv((long) Integer.BYTES * firstTurns.length, 16L) * 16;
  }

  /** Returns the address of the first turns of blocks. It changes if there are many more turns. */
  long firstTurnsAddress() {
    return memory.address();
  }

  long turnsAddress() {
    return memory.address() + turnsAt();
  }

  /** Returns the number of thread blocks. */
  int blocks() {
    return blockCount;
  }

  /**
   * Divides a batch among blocks and uploads the turns if they have changed.
   *
   * @param wantedBlocks more are used if they have too many turns
   */
  void plan(PageTable table, SplitPlan plan, int wantedBlocks) {
    int countBefore = turnCount;
    int[] before = turns;
    turns = spare;
    spare = before;
    list(table, plan);
    if (wantedBlocks == divisor
        && Arrays.equals(before, 0, FIELDS * countBefore, turns, 0, FIELDS * turnCount)) {
      return;
    }
    if (turnCount > capacity) {
      close();
      allocate(Math.max(turnCount, 2 * capacity));
    }
    divisor = wantedBlocks;
    blockCount = divide(turns, turnCount, wantedBlocks, firstTurns);
    upload();
  }

  private void list(PageTable table, SplitPlan plan) {
    turnCount = 0;
    for (int sequence = 0; sequence < table.sequences(); sequence++) {
      int splits = plan.splitsOf(table.pages(sequence));
      ensureTurns(turnCount + rows * splits);
      for (int row = 0; row < rows; row++) {
        int firstPart = turnCount;
        for (int split = 0; split < splits; split++) {
          add(table, sequence, row, split, splits, firstPart);
        }
      }
    }
  }

  private void ensureTurns(int count) {
    if (FIELDS * count > turns.length) {
      turns = Arrays.copyOf(turns, Math.max(FIELDS * count, 2 * turns.length));
    }
  }

  private void add(PageTable table, int sequence, int row, int split, int splits, int firstPart) {
    int packed = table.packedPages(sequence);
    int at = FIELDS * turnCount++;
    turns[at] = table.firstEntry(sequence);
    turns[at + 1] = packed;
    turns[at + 2] = (int) ((long) packed * split / splits);
    turns[at + 3] = (int) ((long) packed * (split + 1) / splits);
    turns[at + 4] = firstPart;
    turns[at + 5] = table.fp16Pages(sequence) | row << 16;
    turns[at + 6] = sequence | split << 16;
    turns[at + 7] = splits;
  }

  /** Returns a turn's time in pages. The first split of a row has the fp16 pages. */
  private static int weight(int[] turns, int turn) {
    int at = FIELDS * turn;
    int fp16 = turns[at + 6] >>> 16 == 0 ? FP16_PAGES * (turns[at + 5] & 0xffff) : 0;
    return TURN_PAGES + turns[at + 3] - turns[at + 2] + fp16;
  }

  /**
   * Divides turns among blocks, none of which is empty.
   *
   * @param turns (count, FIELDS)
   * @param first receives the first turn of each block, then the number of turns
   * @return the number of blocks
   */
  static int divide(int[] turns, int count, int wantedBlocks, int[] first) {
    long all = 0;
    for (int turn = 0; turn < count; turn++) {
      all += weight(turns, turn);
    }
    int blocks = 0;
    long sum = 0; // of the weights before
    long last = -1; // share of the turn before
    for (int turn = 0; turn < count; turn++) {
      int weight = weight(turns, turn);
      long share = count <= wantedBlocks ? turn : (2 * sum + weight) * wantedBlocks / (2 * all);
      if (share != last || turn - first[blocks - 1] == MAX_TURNS) {
        first[blocks++] = turn;
        last = share;
      }
      sum += weight;
    }
    first[blocks] = count;
    return blocks;
  }

  private void upload() {
    MemorySegment.copy(firstTurns, 0, host, JAVA_INT, 0, blockCount + 1);
    MemorySegment.copy(turns, 0, host, JAVA_INT, turnsAt(), FIELDS * turnCount);
    memory.upload(stream, 0, host, turnsAt() + (long) Integer.BYTES * FIELDS * turnCount);
  }

  @Override
  public void close() {
    Resources.closeAll(memory, Resources.closeOnce(arena));
  }
}
