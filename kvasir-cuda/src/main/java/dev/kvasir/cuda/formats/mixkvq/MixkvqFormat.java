package dev.kvasir.cuda.formats.mixkvq;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.mixkvq.MixkvqConfig;
import dev.kvasir.codec.mixkvq.QuerySpan;
import dev.kvasir.codec.mixkvq.Salience;
import dev.kvasir.codec.mixkvq.Thresholds;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.formats.AuxiliaryKernels;
import dev.kvasir.cuda.formats.CompactPageFormat;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.formats.SequenceTableFactory;
import dev.kvasir.cuda.memory.PagePools;

/**
 * MixKVQ: key channels in precision tiers by salience, values in 2 bits, as in {@link MixkvqPage}.
 *
 * @param blocksPerRun number of consecutive blocks that share their tiers
 */
public record MixkvqFormat(
    Thresholds thresholds, Salience salience, QuerySpan span, int blocksPerRun)
    implements CompactPageFormat {
  boolean observesQueries() {
    return salience == Salience.QUERY;
  }

  @Override
  public int bits() {
    return MixkvqPage.BITS;
  }

  @Override
  public String kernelName() {
    return "mixed";
  }

  @Override
  public int pageBytes(int headDim) {
    return new MixkvqPage(headDim).bytes();
  }

  /**
   * Returns false: the tiers of a block depend on the queries since the previous quantization, so
   * both must happen when they do on the host.
   */
  @Override
  public boolean isQuantizedByPosition() {
    return false;
  }

  /** Returns the size of the queries of four heads as halves. */
  @Override
  public int blockBytes() {
    return HeadBlocks.SET_HEADS * HeadBlocks.COMMON_HEAD_DIMS.last() * Short.BYTES;
  }

  @Override
  public PageQuantizer newQuantizer(
      KernelModule module, CudaStream stream, DeviceCacheConfig cacheConfig, AttentionShape shape) {
    return new MixkvqPageQuantizer(module, this, shape, cacheConfig.group(), cacheConfig.group());
  }

  @Override
  public AuxiliaryKernels newAuxiliaryKernels(
      KernelModule module, CudaStream stream, AttentionShape shape, int maxSequences) {
    return observesQueries() ? new QueryMagnitudeKernels(module, shape) : AuxiliaryKernels.NONE;
  }

  /** Returns the size of the active query sums and of the next ones. */
  @Override
  public int tableBytes(int headDim) {
    return observesQueries() ? 2 * headDim * Long.BYTES : 0;
  }

  @Override
  public int tablePages(int blocks) {
    return observesQueries() ? 1 : 0;
  }

  @Override
  public int tableEntries() {
    return 1;
  }

  @Override
  public SequenceTableFactory newTableFactory(
      KernelModule module, AttentionShape shape, PagePools pools) {
    return new WideChannels(module, this, shape, pools);
  }

  /** Returns true: a page stores the addresses of its wide channels. */
  @Override
  public boolean pagesHoldAddresses() {
    return true;
  }

  /** Returns the bytes of wide channels; uses typical shares if the profile has them. */
  @Override
  public long extraBytes(CacheSpec spec, CacheContext context, CacheShape shape, int blocks) {
    MixkvqConfig config = MixkvqConfig.of(spec.pageKeys());
    return WideChannels.estimatedBytes(shape, config.shares(context, thresholds), blocks);
  }

  /**
   * Gives random pages wide channels, which are random too, for benchmarks.
   *
   * @param pages consecutive pages
   * @param bytes size of the pages
   * @return the memory of the wide channels
   */
  public static DeviceMemory dummyWideChannels(
      KernelModule module, CudaStream stream, int headDim, DeviceMemory pages, long bytes) {
    int mid = headDim / TierAssignments.DUMMY_MID;
    int bf16 = headDim / TierAssignments.DUMMY_BF16;
    long each = MixkvqPage.wideBytes(mid, bf16);
    int count = Math.toIntExact(bytes / new MixkvqPage(headDim).bytes());
    DeviceMemory wide = module.context().allocate(count * each);
    wide.fillRandom(stream);
    new Launch(module.kernel("pretend_mixed_d" + headDim), 8, 8, 8, 4, 4)
        .grid(count, 1, 1)
        .block(32)
        .argument(0, pages.address())
        .argument(1, wide.address())
        .argument(2, each)
        .argument(3, mid)
        .argument(4, bf16)
        .on(stream);
    stream.synchronize();
    return wide;
  }

  @Override
  public String toString() {
    return "mixkvq";
  }
}
