package dev.kvasir.cuda.memory;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.model.ModelConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/**
 * Workspace for fp16 copies of packed pages during prefill, one layer at a time. Many rows read
 * each page, so it is dequantized once for all of them; the next layer reuses the memory. A step
 * lists its pages by bit width:
 *
 * <pre>
 * lists  (3 widths) pairs of fp16 and packed page, then the metadata of blocks
 * </pre>
 *
 * Lists are padded with zeros to a power of two, so that steps of similar length share a graph.
 */
public final class DequantizedPages implements AutoCloseable {
  /** Limit for one layer: 131,072 tokens with eight KV heads of 128 channels. */
  private static final long MAX_BYTES = 512L << 20;

  /** Packed widths that a page table distinguishes, as in {@link LayerOffsets}. */
  private static final int WIDTHS = 3;

  /** Limit of a block's metadata: eight table pages, their number of entries and a position. */
  private static final int METADATA_LONGS = 10;

  private static final int PAIR_LONGS = 2;
  private static final int MIN_GRID = 64;

  private final CudaContext context;
  private final long pageBytes; // of all KV heads
  private final int maxPages;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment lists;
  private final DeviceMemory deviceLists;
  private final long[][] pairs; // by width
  private final int[] counts; // pages by width
  private final long[] metadata;
  private int metadataCount;
  private DeviceMemory fp16; // null until first needed
  private int used;

  public DequantizedPages(CudaContext context, ModelConfig config) {
    this.context = context;
    this.pageBytes = pageBytes(config);
    this.maxPages = maxPages(config);
    this.pairs = new long[WIDTHS][PAIR_LONGS * maxPages];
    this.counts = new int[WIDTHS];
    this.metadata = new long[maxPages / Fp16Page.BLOCK_PAGES * METADATA_LONGS];
    long longs = (long) WIDTHS * PAIR_LONGS * maxPages + metadata.length;
    this.lists = arena.allocate(Long.BYTES * longs, 16);
    this.deviceLists = context.allocate(lists.byteSize());
  }

  private static long pageBytes(ModelConfig config) {
    return (long) config.kvHeads() * new Fp16Page(config.headDim()).bytes();
  }

  /** Returns the maximum number of pages, a multiple of the block size. */
  private static int maxPages(ModelConfig config) {
    int block = Fp16Page.BLOCK_PAGES;
    int ofContext = block * Math.ceilDiv(config.contextLength(), block * Fp16Page.TOKENS);
    return (int) Math.min(ofContext, MAX_BYTES / pageBytes(config) / block * block);
  }

  /** Returns the maximum memory that this workspace can take. */
  public static long maxBytes(ModelConfig config) {
    return maxPages(config) * pageBytes(config);
  }

  /** Grows the workspace if the pages are within the limit and memory is available. */
  public void ensureCapacity(int pages) {
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
      // rows of longer sequences are attended one by one
    }
  }

  /** Returns the number of pages that fit. */
  public int capacity() {
    return fp16 == null ? 0 : (int) (fp16.bytes() / pageBytes);
  }

  /** Returns the number of pages that still fit. */
  public int remaining() {
    return capacity() - used;
  }

  public void clear() {
    used = 0;
    metadataCount = 0;
    Arrays.fill(counts, 0);
  }

  /**
   * Lists a packed page and returns the address of its fp16 copy.
   *
   * @param width 0 for the only or the widest packed width
   */
  public long add(int width, long packed) {
    long to = fp16.address() + used++ * pageBytes;
    int at = PAIR_LONGS * counts[width]++;
    pairs[width][at] = to;
    pairs[width][at + 1] = packed;
    return to;
  }

  /** Adds the metadata of the listed blocks. */
  public void addMetadata(long[] longs) {
    System.arraycopy(longs, 0, metadata, metadataCount, longs.length);
    metadataCount += longs.length;
  }

  private int padded(int pages) {
    int powerOfTwo = Integer.highestOneBit(Math.max(MIN_GRID, 2 * pages - 1));
    return pages == 0 ? 0 : Math.min(maxPages, powerOfTwo);
  }

  /** Returns the number of listed pages of a width, including padding. */
  public int grid(int width) {
    return padded(counts[width]);
  }

  private long listAt(int width) {
    return (long) Long.BYTES * width * PAIR_LONGS * maxPages;
  }

  /** Returns the device address of the page pairs of a width. */
  public long pairsAddress(int width) {
    return deviceLists.address() + listAt(width);
  }

  /** Returns the device address of the block metadata. */
  public long metadataAddress() {
    return pairsAddress(WIDTHS);
  }

  /**
   * Returns the grid size by width. A captured graph depends on nothing else, since the lists keep
   * their addresses.
   */
  public List<Integer> grids() {
    return used == 0 ? List.of() : Arrays.stream(counts).map(this::padded).boxed().toList();
  }

  public void upload(CudaStream stream) {
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
