package dev.kvasir.cuda.formats.mixkvq;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.mixkvq.TierShares;
import dev.kvasir.codec.mixkvq.Tiers;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.formats.SequenceTableFactory;
import dev.kvasir.cuda.formats.SequenceTables;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PagePool;
import dev.kvasir.cuda.memory.PagePools;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Optional;

/**
 * Resources shared by all sequences of {@link MixkvqFormat}: memory for wide channels in extents of
 * one size, and the salience kernel. The device computes the salience of channels; the host assigns
 * tiers.
 */
final class WideChannels implements SequenceTableFactory {
  /** Fits several of the largest pieces, 128 bf16 channels. */
  static final int EXTENT_BYTES = 1 << 16;

  /** Blocks per launch: whole runs of one, two, three or four blocks. */
  private static final int MAX_BLOCKS = 12;

  private final MixkvqFormat format;
  private final AttentionShape shape;
  private final int layers;
  private final PagePool extents;
  private final Launch computeSalience;
  private final Arena arena = Arena.ofShared();
  private final DeviceMemory deviceSaliences; // (runs, layers, kvHeads, headDim)
  private final MemorySegment saliences; // as downloaded, guarded by the lock

  WideChannels(KernelModule module, MixkvqFormat format, AttentionShape shape, PagePools pools) {
    this.format = format;
    this.shape = shape;
    this.layers = pools.layers();
    this.extents = pools.extents("extents", EXTENT_BYTES);
    this.computeSalience =
        new Launch(module.kernel("judge_mixed_d" + shape.headDim()), 8, 8, 4, 8, 8, 4, 4, 8)
            .block(shape.headDim())
            .argument(2, Fp16Page.BLOCK_PAGES * format.blocksPerRun());
    int runs = MAX_BLOCKS / format.blocksPerRun();
    this.saliences = arena.allocate((long) Float.BYTES * runs * channels(), 64);
    this.deviceSaliences = module.context().allocate(saliences.byteSize());
  }

  @Override
  public SequenceTables newTables(CacheResources resources) {
    return new MixkvqTables(resources, format, this);
  }

  PagePool extents() {
    return extents;
  }

  /** Returns the number of KV heads of all layers. */
  int heads() {
    return layers * shape.kvHeads();
  }

  int headDim() {
    return shape.headDim();
  }

  /** Returns the key channels of a token in all layers. */
  private int channels() {
    return heads() * shape.headDim();
  }

  /**
   * Returns the bytes of the extents with the wide channels of blocks.
   *
   * @param shares usual shares of wide channels; if unknown, all channels count as bf16
   */
  static long estimatedBytes(CacheShape shape, Optional<TierShares> shares, int blocks) {
    int dim = shape.headDim();
    int bf16 = shares.map(each -> (int) Math.ceil(dim * each.high())).orElse(dim);
    int mid = shares.map(each -> (int) Math.ceil(dim * each.mid())).orElse(0);
    int heads = shape.layers() * shape.kvHeads();
    long block = (long) Fp16Page.BLOCK_PAGES * heads * MixkvqPage.wideBytes(mid, bf16);
    return Math.ceilDiv(blocks * block, EXTENT_BYTES) * EXTENT_BYTES;
  }

  /**
   * Assigns tiers to the channels of blocks before quantization; waits for the device.
   *
   * @param fp16 fp16 pages of whole runs
   * @param magnitudes query magnitudes; null if salience ignores queries
   * @return tiers by block // (blocks, layers * kvHeads)
   */
  Tiers[][] assignTiers(CacheResources resources, long[] fp16, DeviceQueryMagnitudes magnitudes) {
    Tiers[][] tiers = new Tiers[fp16.length / Fp16Page.BLOCK_PAGES][];
    for (int block = 0; block < tiers.length; block += MAX_BLOCKS) {
      int count = Math.min(MAX_BLOCKS, tiers.length - block);
      int first = block * Fp16Page.BLOCK_PAGES;
      long[] part = Arrays.copyOfRange(fp16, first, first + count * Fp16Page.BLOCK_PAGES);
      float[] salience = new float[count / format.blocksPerRun() * channels()];
      resources.submit(() -> computeSalience(resources, part, magnitudes, salience));
      assignTiers(salience, tiers, block, count);
    }
    return tiers;
  }

  private void assignTiers(float[] salience, Tiers[][] tiers, int firstBlock, int blocks) {
    for (int block = 0; block < blocks; block++) {
      int run = block / format.blocksPerRun();
      Tiers[] ofHeads = new Tiers[heads()];
      for (int head = 0; head < ofHeads.length; head++) {
        int at = run * channels() + head * shape.headDim();
        ofHeads[head] = Tiers.of(salience, at, shape.headDim(), format.thresholds());
      }
      tiers[firstBlock + block] = ofHeads;
    }
  }

  /**
   * @param salience output // (runs, layers, kvHeads, headDim)
   */
  private void computeSalience(
      CacheResources resources, long[] part, DeviceQueryMagnitudes magnitudes, float[] salience) {
    computeSalience
        .grid(salience.length / channels(), shape.kvHeads(), layers)
        .argument(1, resources.fp16Pool().layerStride())
        .argument(7, deviceSaliences.address());
    if (magnitudes != null) {
      computeSalience
          .argument(3, magnitudes.address())
          .argument(4, resources.tablePool().layerStride())
          .argument(5, magnitudes.activeSum())
          .argument(6, magnitudes.tokens() * shape.queriesPerKvHead());
    }
    resources
        .operations()
        .runOnPairs(
            part,
            part,
            (stream, pages, pairs) -> {
              computeSalience.argument(0, pairs).on(stream);
              long bytes = (long) Float.BYTES * salience.length;
              deviceSaliences.download(stream, 0, saliences, bytes);
              stream.synchronize();
            });
    MemorySegment.copy(saliences, JAVA_FLOAT, 0, salience, 0, salience.length);
  }

  @Override
  public void close() {
    Resources.closeAll(deviceSaliences, Resources.closeOnce(arena));
  }
}
