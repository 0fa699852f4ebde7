package dev.kvasir.cuda.formats.kivi;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.FormatRequest;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.PageFormat;
import dev.kvasir.cuda.formats.PageFormatProvider;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.memory.PackedPage;

/** Provides pages of KIVI with 2 or 4 bits in all layers. */
public final class KiviFormatProvider implements PageFormatProvider {
  @Override
  public String method() {
    return "kivi";
  }

  @Override
  public DeviceCacheConfig cacheConfig(FormatRequest request) {
    UniformOptions options = UniformOptions.of(request.text(), "widths");
    request.requireUniformWidths(options);
    if (request.text().choice("widths", LayerWidths.Source.SAME) != LayerWidths.Source.SAME) {
      throw request.unsupported(
          "has widths of a profile; on a device expected the same in all layers");
    }
    request.requireExactOperands(options.operandPrecision());
    return new DeviceCacheConfig(
        new KiviFormat(options.keyBits()), options.group(), options.window(), options.sinks());
  }

  /**
   * KIVI: uniform codes with a scale and a zero per group, keys per channel and values per token,
   * as in {@link PackedPage}.
   *
   * @param bits 2 or 4
   */
  public record KiviFormat(int bits) implements PageFormat {
    @Override
    public boolean isStorable() {
      return true;
    }

    @Override
    public String kernelName() {
      return "kivi" + bits;
    }

    @Override
    public int pageBytes(int headDim) {
      return new PackedPage(bits, headDim).bytes();
    }

    /** Limits wide heads to one set, since the outputs of two sets do not fit in registers. */
    @Override
    public int maxHeads(int headDim) {
      return headDim == HeadBlocks.WIDE_HEAD_DIM ? HeadBlocks.SET_HEADS : HeadBlocks.MAX_HEADS;
    }

    @Override
    public boolean prefillReadsPacked() {
      return true;
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
        KernelModule module,
        CudaStream stream,
        DeviceCacheConfig cacheConfig,
        AttentionShape shape) {
      return new KiviPageQuantizer(module, this, shape, cacheConfig.group(), cacheConfig.group());
    }

    @Override
    public String toString() {
      return "kivi:" + bits;
    }
  }
}
