package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.model.ModelConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/**
 * Packed pages of prompts as halves, of one layer at a time: so many rows read a page that it is
 * unpacked once for all of them, and the next layer's pages take its place. Pages are listed for a
 * step, one list for each width of theirs:
 *
 * <pre>
 * lists  (3 widths) pairs as {@link PagePacker} has them, then what blocks have beside them
 * </pre>
 *
 * Lists are filled up with zeros to a power of two, so that steps of about the same length are one
 * graph.
 */
final class ExpandedPages implements AutoCloseable {
  /** Of one layer; 131,072 tokens with eight KV heads of 128 channels. */
  private static final long MOST_BYTES = 512L << 20;

  private static final int WIDTHS = WidthFormat.BITS.length - 1;
  private static final int PAIR_LONGS = 2;
  private static final int LEAST_GRID = 64;

  private final Context context;
  private final long pageBytes; // of all KV heads
  private final int mostPages;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment lists;
  private final DeviceMemory deviceLists;
  private final long[][] pairs; // by width
  private final int[] counts; // of pages, by width
  private final long[] beside;
  private int besideCount;
  private DeviceMemory halves; // null until there is something to unpack
  private int used;

  ExpandedPages(Context context, ModelConfig config) {
    this.context = context;
    this.pageBytes = pageBytes(config);
    this.mostPages = mostPages(config);
    this.pairs = new long[WIDTHS][PAIR_LONGS * mostPages];
    this.counts = new int[WIDTHS];
    this.beside = new long[mostPages / SequencePages.BLOCK_PAGES * PatternPacker.BESIDE_LONGS];
    long longs = (long) WIDTHS * PAIR_LONGS * mostPages + beside.length;
    this.lists = arena.allocate(Long.BYTES * longs, 16);
    this.deviceLists = context.allocate(lists.byteSize());
  }

  private static long pageBytes(ModelConfig config) {
    return (long) config.kvHeads() * new HalfPage(config.headDim()).bytes();
  }

  /** Whole blocks. */
  private static int mostPages(ModelConfig config) {
    int block = SequencePages.BLOCK_PAGES;
    int ofContext = block * Math.ceilDiv(config.contextLength(), block * HalfPage.TOKENS);
    return (int) Math.min(ofContext, MOST_BYTES / pageBytes(config) / block * block);
  }

  /** That it may come to take. */
  static long mostBytes(ModelConfig config) {
    return mostPages(config) * pageBytes(config);
  }

  /** Makes room for so many pages, where they are not too many and there is memory for them. */
  void grow(int pages) {
    if (used > 0) {
      throw new IllegalStateException("%d pages are in use".formatted(used));
    }
    if (pages <= room() || pages > mostPages) {
      return;
    }
    int wanted = filledUp(pages);
    try {
      DeviceMemory more = context.allocate(wanted * pageBytes);
      release();
      halves = more;
    } catch (DeviceRefusal _) {
      // rows of longer texts are attended to one by one
    }
  }

  /** Pages that there is room for. */
  int room() {
    return halves == null ? 0 : (int) (halves.bytes() / pageBytes);
  }

  /** Of it, what is still free. */
  int left() {
    return room() - used;
  }

  void clear() {
    used = 0;
    besideCount = 0;
    Arrays.fill(counts, 0);
  }

  /**
   * Lists a packed page; where its halves will lie.
   *
   * @param width 0 for pages of the only one there is, or of the widest
   */
  long add(int width, long packed) {
    long to = halves.address() + used++ * pageBytes;
    int at = PAIR_LONGS * counts[width]++;
    pairs[width][at] = to;
    pairs[width][at + 1] = packed;
    return to;
  }

  /** What the blocks of pages that are listed have beside them. */
  void addBeside(long[] longs) {
    System.arraycopy(longs, 0, beside, besideCount, longs.length);
    besideCount += longs.length;
  }

  private int filledUp(int pages) {
    int powerOfTwo = Integer.highestOneBit(Math.max(LEAST_GRID, 2 * pages - 1));
    return pages == 0 ? 0 : Math.min(mostPages, powerOfTwo);
  }

  /** Pages of a width that a kernel goes through, those behind the last one included. */
  int grid(int width) {
    return filledUp(counts[width]);
  }

  private long listAt(int width) {
    return (long) Long.BYTES * width * PAIR_LONGS * mostPages;
  }

  /** On the device. */
  long pairsAt(int width) {
    return deviceLists.address() + listAt(width);
  }

  /** On the device. */
  long besideAt() {
    return pairsAt(WIDTHS);
  }

  /**
   * By width: what a graph of a step depends on; all else is in lists, which stay where they are.
   */
  List<Integer> grids() {
    return used == 0 ? List.of() : Arrays.stream(counts).map(this::filledUp).boxed().toList();
  }

  void upload(Stream stream) {
    if (used == 0) {
      return;
    }
    for (int width = 0; width < WIDTHS; width++) {
      Arrays.fill(pairs[width], PAIR_LONGS * counts[width], PAIR_LONGS * grid(width), 0);
      bring(stream, pairs[width], PAIR_LONGS * grid(width), listAt(width));
    }
    bring(stream, beside, besideCount, listAt(WIDTHS));
  }

  private void bring(Stream stream, long[] longs, int count, long at) {
    if (count > 0) {
      MemorySegment part = lists.asSlice(at, (long) Long.BYTES * count);
      MemorySegment.copy(longs, 0, part, JAVA_LONG, 0, count);
      deviceLists.upload(stream, at, part, part.byteSize());
    }
  }

  private void release() {
    if (halves != null) {
      halves.close();
      halves = null;
    }
  }

  @Override
  public void close() {
    Closing.all(this::release, deviceLists, Closing.once(arena));
  }
}
