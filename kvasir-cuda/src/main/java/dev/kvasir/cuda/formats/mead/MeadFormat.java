package dev.kvasir.cuda.formats.mead;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.formats.AuxiliaryKernels;
import dev.kvasir.cuda.formats.CompactPageFormat;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.PageFormat;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.formats.SequenceTableFactory;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PagePool;
import dev.kvasir.cuda.memory.PagePools;
import dev.kvasir.model.LayerRange;

/**
 * Mead: residuals of predictions in a {@link BlockLayout}. Attention decodes keys in registers and
 * sums components of values ({@link MeadAttentionKernels}). If predictions differ by token, pages
 * are dequantized first ({@link MeadDecodedPages}).
 *
 * @param text the spec
 * @param model null if only sizes are needed
 */
public record MeadFormat(String text, MeadModel model) implements CompactPageFormat {

  /** Warps of a multiprocessor, limited by registers. */
  private static final int WARPS = 16;

  /** Half of a multiprocessor's shared memory, less what a thread block has by itself. */
  private static final int HALF_SHARED_BYTES = 110 << 10;

  private static final int DECODED_WARPS = 12;
  private static final int BLOCK_TOKENS = Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;

  @Override
  public String kernelName() {
    return model != null && model.isDecoded() ? "mead_decoded" : "mead";
  }

  @Override
  public PageFormat ofLayers(LayerRange range) {
    throw new DeviceException(
        "the cache '%s' has pages of all layers together; with several GPUs expected another cache"
                .formatted(text)
            + " or one GPU");
  }

  /** Returns the mean bits of a number, rounded down. */
  @Override
  public int bits() {
    if (model == null) {
      return 1;
    }
    BlockLayout layout = model.layout();
    long codeBits = layout.parts().stream().mapToLong(part -> part.layout().codeBits()).sum();
    long numbers = 2L * layout.layers() * layout.kvHeads() * model.headDim() * BLOCK_TOKENS;
    return (int) Math.max(1, codeBits / numbers);
  }

  @Override
  public boolean quantizesBlocks() {
    return true;
  }

  /** Returns the mean bytes of a page of a layer and KV head, rounded up. */
  @Override
  public int pageBytes(int headDim) {
    BlockLayout layout = model.layout();
    int parts = layout.layers() * layout.kvHeads() * Fp16Page.TOKENS;
    return Math.ceilDiv(layout.pageBytes(), parts) * Fp16Page.TOKENS;
  }

  /** Returns the bytes of a page, which holds all layers. */
  int spanBytes() {
    return model.layout().pageBytes();
  }

  @Override
  public long packedBytes(CacheShape shape) {
    return spanBytes();
  }

  @Override
  public PagePool packedPool(PagePools pools, int headDim) {
    return pools.extents("mead of %d bytes".formatted(spanBytes()), spanBytes());
  }

  /** Returns 0: the tables of attention have the offset of each layer. */
  @Override
  public long packedOffset(PagePool pool, AttentionShape shape, int layer) {
    return 0;
  }

  /** Returns the bytes of a warp's outputs if pages are dequantized; otherwise copies are in it. */
  @Override
  public int unitBytes(int headDim) {
    return model.isDecoded()
        ? HeadBlocks.MAX_HEADS * headDim * Float.BYTES
        : MeadMemoryLayout.UNIT_BYTES;
  }

  @Override
  public int warpBytes() {
    return model.isDecoded()
        ? 0
        : new MeadMemoryLayout(model.headDim()).warpBytes(model.layout().maxChunkBytes())
            - 2 * MeadMemoryLayout.UNIT_BYTES;
  }

  @Override
  public int maxWarps() {
    return model.isDecoded() ? DECODED_WARPS : attentionWarps();
  }

  /** Returns the warps of a thread block: half as many if two blocks fit a multiprocessor then. */
  private int attentionWarps() {
    int few = WARPS / 2;
    int bytes = blockBytes(model.headDim()) + few * (warpBytes() + 2 * MeadMemoryLayout.UNIT_BYTES);
    return bytes <= HALF_SHARED_BYTES ? few : WARPS;
  }

  @Override
  public int blockBytes(int headDim) {
    return model.isDecoded() ? 0 : new MeadMemoryLayout(headDim).blockBytes();
  }

  @Override
  public PageQuantizer newQuantizer(
      KernelModule module, CudaStream stream, DeviceCacheConfig cacheConfig, AttentionShape shape) {
    return new MeadPageQuantizer(module, stream, this, shape);
  }

  @Override
  public SequenceTableFactory newTableFactory(
      KernelModule module, AttentionShape shape, PagePools pools) {
    return resources -> new MeadSequenceTables(model.parameters().needsTokenIds());
  }

  @Override
  public AuxiliaryKernels newAuxiliaryKernels(
      KernelModule module, CudaStream stream, AttentionShape shape, int maxSequences) {
    return model.isDecoded()
        ? new MeadDecodedPages(module, stream, model, shape)
        : new MeadAttentionKernels(module, stream, model, shape, maxSequences);
  }

  @Override
  public long sharedBytes(CacheShape shape) {
    return model == null ? 0 : model.bytes();
  }

  /** Returns the same with the tables of a model. */
  public MeadFormat withModel(MeadModel other) {
    return new MeadFormat(text, other);
  }

  @Override
  public String toString() {
    return text;
  }
}
