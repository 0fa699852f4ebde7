package dev.kvasir.cuda.formats.kivi;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.kivi.KiviCodec;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.PageFormat;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PackedPage;
import dev.kvasir.cuda.memory.PagePool;
import dev.kvasir.cuda.memory.PagePools;
import dev.kvasir.model.LayerRange;
import dev.kvasir.page.HeadShape;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.zip.CRC32;

/**
 * KIVI: uniform codes with a scale and a zero per group, keys per channel and values per token, as
 * in {@link PackedPage}. There are kernels of 2 and of 4 bits in all codes, and kernels of any
 * widths, which may differ by layer. A page then has its layers one after another:
 *
 * <pre>
 * page   layer 0 // (kvHeads), layer 1, ...
 * </pre>
 *
 * @param layers the widths of each layer, or of all; empty if they are not known yet
 * @param isPart whether further layers on other cards have other widths, so that the kernels are
 *     those of any widths
 */
public record KiviFormat(List<CodeWidths> layers, boolean isPart) implements PageFormat {
  /** Bits that have kernels of their own, if keys and values of all layers have them. */
  private static final Set<Integer> OWN_KERNELS = Set.of(2, 4);

  /** The stored widths of pages whose layers differ. */
  private static final int BY_LAYER = 255;

  public KiviFormat {
    boolean areAlike = layers.stream().distinct().count() == 1;
    layers = areAlike ? List.of(layers.getFirst()) : List.copyOf(layers);
  }

  /** The format of all layers. */
  public KiviFormat(List<CodeWidths> layers) {
    this(layers, false);
  }

  /** A format with the same bits everywhere. */
  public KiviFormat(int bits) {
    this(bits, bits);
  }

  /** A format with the same bits in all layers. */
  public KiviFormat(int keyBits, int valueBits) {
    this(List.of(new CodeWidths(keyBits, valueBits)));
  }

  /** Returns the format whose pages have the widths of a codec. */
  static KiviFormat of(KiviCodec codec, int layers) {
    return new KiviFormat(
        IntStream.range(0, layers).mapToObj(layer -> widths(codec.head(layer))).toList());
  }

  private static CodeWidths widths(HeadShape head) {
    return new CodeWidths(head.keys().getFirst().bits(), head.values().bits());
  }

  @Override
  public PageFormat ofLayers(LayerRange range) {
    return differsByLayer()
        ? new KiviFormat(layers.subList(range.first(), range.end()), true)
        : this;
  }

  /** Returns the widths of a layer. */
  public CodeWidths layer(int layer) {
    return layers.get(layers.size() == 1 ? 0 : layer);
  }

  boolean differsByLayer() {
    return layers.size() > 1;
  }

  boolean hasOwnKernels() {
    return !isPart
        && layers.size() == 1
        && layers.getFirst().areEqual()
        && OWN_KERNELS.contains(layers.getFirst().keys());
  }

  /** Returns the most bits of a code. */
  @Override
  public int bits() {
    return layers.stream()
        .mapToInt(widths -> Math.max(widths.keys(), widths.values()))
        .max()
        .orElseThrow();
  }

  @Override
  public long codeBytes(CacheShape shape) {
    return IntStream.range(0, shape.layers())
            .mapToLong(layer -> layer(layer).keys() + layer(layer).values())
            .sum()
        * Fp16Page.TOKENS
        * shape.kvHeads()
        * shape.keyDim()
        / Byte.SIZE;
  }

  @Override
  public int codeWidths(int layer) {
    return layer(layer).packed();
  }

  @Override
  public boolean isStorable() {
    return true;
  }

  @Override
  public int storedWidths() {
    CodeWidths first = layers.getFirst();
    return differsByLayer()
        ? BY_LAYER
        : first.areEqual() ? first.keys() : first.keys() << 4 | first.values();
  }

  @Override
  public boolean storesLayersTogether() {
    return differsByLayer();
  }

  /** Returns a checksum of the widths if layers differ, since these have no common size. */
  @Override
  public int storedPageBytes(int headDim) {
    if (!differsByLayer()) {
      return pageBytes(headDim);
    }
    CRC32 checksum = new CRC32();
    checksum.update(headDim);
    layers.forEach(
        widths -> {
          checksum.update(widths.keys());
          checksum.update(widths.values());
        });
    return (int) checksum.getValue();
  }

  @Override
  public String kernelName() {
    return hasOwnKernels() ? "kivi" + layers.getFirst().keys() : "kivi";
  }

  /** Returns the same kernel for any widths: it always has limits, if only those of no window. */
  @Override
  public String limitedKernel(String kernel) {
    return hasOwnKernels() ? PageFormat.super.limitedKernel(kernel) : kernel;
  }

  /** Returns the bytes of the largest page of a layer. */
  @Override
  public int pageBytes(int headDim) {
    return layers.stream().mapToInt(each -> each.page(headDim).bytes()).max().orElseThrow();
  }

  @Override
  public long packedBytes(CacheShape shape) {
    return IntStream.range(0, shape.layers())
            .mapToLong(layer -> layer(layer).page(shape.keyDim()).bytes())
            .sum()
        * shape.kvHeads();
  }

  /** Returns a pool of pages in one piece if the layers of a page differ. */
  @Override
  public PagePool packedPool(PagePools pools, int headDim) {
    if (hasOwnKernels()) {
      return PageFormat.super.packedPool(pools, headDim);
    }
    if (!differsByLayer()) {
      return pools.pages("kivi of %d bytes".formatted(pageBytes(headDim)), pageBytes(headDim));
    }
    int bytes = layers.stream().mapToInt(each -> each.page(headDim).bytes()).sum();
    return pools.pages("kivi of %d bytes in all layers".formatted(bytes), 1, bytes);
  }

  @Override
  public long packedOffset(PagePool pool, AttentionShape shape, int layer) {
    return differsByLayer()
        ? headOffset(shape.headDim(), layer) * shape.kvHeads()
        : PageFormat.super.packedOffset(pool, shape, layer);
  }

  /** Returns the bytes of the layers before one, of one KV head. */
  long headOffset(int headDim, int layer) {
    long bytes = 0;
    for (int before = 0; before < layer; before++) {
      bytes += layer(before).page(headDim).bytes();
    }
    return bytes;
  }

  /** Limits wide heads and any widths to one set: the outputs of two do not fit in registers. */
  @Override
  public int maxHeads(int headDim) {
    return headDim == HeadBlocks.WIDE_HEAD_DIM || !hasOwnKernels()
        ? HeadBlocks.SET_HEADS
        : HeadBlocks.MAX_HEADS;
  }

  @Override
  public boolean prefillReadsPacked() {
    return hasOwnKernels();
  }

  @Override
  public boolean attendsWithLimits() {
    return true;
  }

  @Override
  public boolean attendsInTurn() {
    return true;
  }

  @Override
  public PageQuantizer newQuantizer(
      KernelModule module, CudaStream stream, DeviceCacheConfig cacheConfig, AttentionShape shape) {
    return new KiviPageQuantizer(module, this, shape, cacheConfig.group(), cacheConfig.group());
  }

  @Override
  public String toString() {
    return layers.size() == 1 ? layers.getFirst().toString() : "kivi with widths by layer";
  }
}
