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
 * lists  (3 widths) pairs as {@link PageQuantizer} has them, then what blocks have beside them
 * </pre>
 *
 * Lists are filled up with zeros to a power of two, so that steps of about the same length are one
 * graph.
 */
final class DequantizedPages implements AutoCloseable {
  /** Of one layer; 131,072 tokens with eight KV heads of 128 channels. */
  private static final long MAX_BYTES = 512L << 20;

  private static final int WIDTHS = PmkvqFormat.BITS.length - 1;
  private static final int PAIR_LONGS = 2;
  private static final int MIN_GRID = 64;

  private final CudaContext context;
  private final long pageBytes; // of all KV heads
  private final int maxPages;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment lists;
  private final DeviceMemory deviceLists;
  private final long[][] pairs; // by width
  private final int[] counts; // of pages, by width
  private final long[] metadata;
  private int metadataCount;
  private DeviceMemory fp16; // null until there is something to unpack
  private int used;

  DequantizedPages(CudaContext context, ModelConfig config) {
    this.context = context;
    this.pageBytes = pageBytes(config);
    this.maxPages = maxPages(config);
    this.pairs = new long[WIDTHS][PAIR_LONGS * maxPages];
    this.counts = new int[WIDTHS];
    this.metadata =
        new long[maxPages / SequencePages.BLOCK_PAGES * PatternPageQuantizer.METADATA_LONGS];
    long longs = (long) WIDTHS * PAIR_LONGS * maxPages + metadata.length;
    this.lists = arena.allocate(Long.BYTES * longs, 16);
    this.deviceLists = context.allocate(lists.byteSize());
  }

  private static long pageBytes(ModelConfig config) {
    return (long) config.kvHeads() * new Fp16Page(config.headDim()).bytes();
  }

  /** Whole blocks. */
  private static int maxPages(ModelConfig config) {
    int block = SequencePages.BLOCK_PAGES;
    int ofContext = block * Math.ceilDiv(config.contextLength(), block * Fp16Page.TOKENS);
    return (int) Math.min(ofContext, MAX_BYTES / pageBytes(config) / block * block);
  }

  /** That it may come to take. */
  static long maxBytes(ModelConfig config) {
    return maxPages(config) * pageBytes(config);
  }

  /** Makes room for so many pages, where they are not too many and there is memory for them. */
  void ensureCapacity(int pages) {
    if (used > 0) {
      throw new IllegalStateException("%d pages are in use".formatted(used));
    }
    if (pages <= capacity() || pages > maxPages) {
      return;
    }
    int wanted = padded(pages);
    try {
      DeviceMemory more = context.allocate(wanted * pageBytes);
      release();
      fp16 = more;
    } catch (DeviceException _) {
      // rows of longer texts are attended to one by one
    }
  }

  /** Pages that there is room for. */
  int capacity() {
    return fp16 == null ? 0 : (int) (fp16.bytes() / pageBytes);
  }

  /** Of it, what is still free. */
  int remaining() {
    return capacity() - used;
  }

  void clear() {
    used = 0;
    metadataCount = 0;
    Arrays.fill(counts, 0);
  }

  /**
   * Lists a packed page; where its halves will lie.
   *
   * @param width 0 for pages of the only one there is, or of the widest
   */
  long add(int width, long packed) {
    long to = fp16.address() + used++ * pageBytes;
    int at = PAIR_LONGS * counts[width]++;
    pairs[width][at] = to;
    pairs[width][at + 1] = packed;
    return to;
  }

  /** What the blocks of pages that are listed have beside them. */
  void addMetadata(long[] longs) {
    System.arraycopy(longs, 0, metadata, metadataCount, longs.length);
    metadataCount += longs.length;
  }

  private int padded(int pages) {
    int powerOfTwo = Integer.highestOneBit(Math.max(MIN_GRID, 2 * pages - 1));
    return pages == 0 ? 0 : Math.min(maxPages, powerOfTwo);
  }

  /** Pages of a width that a kernel goes through, those behind the last one included. */
  int grid(int width) {
    return padded(counts[width]);
  }

  private long listAt(int width) {
    return (long) Long.BYTES * width * PAIR_LONGS * maxPages;
  }

  /** On the device. */
  long pairsAddress(int width) {
    return deviceLists.address() + listAt(width);
  }

  /** On the device. */
  long metadataAddress() {
    return pairsAddress(WIDTHS);
  }

  /**
   * By width: what a graph of a step depends on; all else is in lists, which stay where they are.
   */
  List<Integer> grids() {
    return used == 0 ? List.of() : Arrays.stream(counts).map(this::padded).boxed().toList();
  }

  void upload(CudaStream stream) {
    if (used == 0) {
      return;
    }
    for (int width = 0; width < WIDTHS; width++) {
      Arrays.fill(pairs[width], PAIR_LONGS * counts[width], PAIR_LONGS * grid(width), 0);
      upload(stream, pairs[width], PAIR_LONGS * grid(width), listAt(width));
    }
    upload(stream, metadata, metadataCount, listAt(WIDTHS));
  }

  private void upload(CudaStream stream, long[] longs, int count, long at) {
    if (count > 0) {
      MemorySegment part = lists.asSlice(at, (long) Long.BYTES * count);
      MemorySegment.copy(longs, 0, part, JAVA_LONG, 0, count);
      deviceLists.upload(stream, at, part, part.byteSize());
    }
  }

  private void release() {
    if (fp16 != null) {
      fp16.close();
      fp16 = null;
    }
  }

  @Override
  public void close() {
    Resources.closeAll(this::release, deviceLists, Resources.closeOnce(arena));
  }
}
