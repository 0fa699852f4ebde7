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
 * lists its pages by group of layers and bit width:
 *
 * <pre>
 * lists  (3 groups, 3 widths) pairs of fp16 and packed page, then the metadata of blocks
 * </pre>
 *
 * Lists are padded with zeros to a power of two, so that steps of similar length share a graph.
 */
public final class DequantizedPages implements AutoCloseable {
  /** Limit for one layer: 131,072 tokens with eight KV heads of 128 channels. */
  private static final long MAX_BYTES = 512L << 20;

  /** Packed widths that a page table distinguishes, as in {@link LayerOffsets}. */
  private static final int WIDTHS = 3;

  private static final int LISTS = PageTable.MAX_GROUPS * WIDTHS;

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
  private final long[][] pairs; // by group and width; null until first needed
  private final int[] counts; // pages by group and width
  private final long[] metadata;
  private int metadataCount;
  private DeviceMemory fp16; // null until first needed
  private final int[] used = new int[PageTable.MAX_GROUPS]; // pages by group

  public DequantizedPages(CudaContext context, ModelConfig config) {
    this.context = context;
    this.pageBytes = pageBytes(config);
    this.maxPages = maxPages(config);
    this.pairs = new long[LISTS][];
    this.counts = new int[LISTS];
    this.metadata = new long[maxPages / Fp16Page.BLOCK_PAGES * METADATA_LONGS];
    long longs = (long) LISTS * PAIR_LONGS * maxPages + metadata.length;
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
    if (used() > 0) {
      throw new IllegalStateException("%d pages are in use".formatted(used()));
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

  /** Returns the pages of the group that has most of them; groups take turns in the memory. */
  private int used() {
    int most = 0;
    for (int pages : used) {
      most = Math.max(most, pages);
    }
    return most;
  }

  /** Returns the number of pages that fit. */
  public int capacity() {
    return fp16 == null ? 0 : (int) (fp16.bytes() / pageBytes);
  }

  /** Returns the number of pages that still fit. */
  public int remaining() {
    return capacity() - used();
  }

  public void clear() {
    Arrays.fill(used, 0);
    metadataCount = 0;
    Arrays.fill(counts, 0);
  }

  /**
   * Lists a packed page and returns the address of its fp16 copy.
   *
   * @param group group of layers that the page belongs to
   * @param width 0 for the only or the widest packed width
   */
  public long add(int group, int width, long packed) {
    long to = fp16.address() + used[group]++ * pageBytes;
    int list = WIDTHS * group + width;
    if (pairs[list] == null) {
      pairs[list] = new long[PAIR_LONGS * maxPages];
    }
    int at = PAIR_LONGS * counts[list]++;
    pairs[list][at] = to;
    pairs[list][at + 1] = packed;
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

  /** Returns the number of listed pages of a group and width, including padding. */
  public int grid(int group, int width) {
    return padded(counts[WIDTHS * group + width]);
  }

  private long listAt(int list) {
    return (long) Long.BYTES * list * PAIR_LONGS * maxPages;
  }

  /** Returns the device address of the page pairs of a group and width. */
  public long pairsAddress(int group, int width) {
    return deviceLists.address() + listAt(WIDTHS * group + width);
  }

  /** Returns the device address of the block metadata. */
  public long metadataAddress() {
    return deviceLists.address() + listAt(LISTS);
  }

  /**
   * Returns the grid size by group and width. A captured graph depends on nothing else, since the
   * lists keep their addresses.
   */
  public List<Integer> grids() {
    return used() == 0 ? List.of() : Arrays.stream(counts).map(this::padded).boxed().toList();
  }

  public void upload(CudaStream stream) {
    if (used() == 0) {
      return;
    }
    for (int list = 0; list < LISTS; list++) {
      int longs = PAIR_LONGS * padded(counts[list]);
      if (longs > 0) {
        Arrays.fill(pairs[list], PAIR_LONGS * counts[list], longs, 0);
        upload(stream, pairs[list], longs, listAt(list));
      }
    }
    upload(stream, metadata, metadataCount, listAt(LISTS));
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
