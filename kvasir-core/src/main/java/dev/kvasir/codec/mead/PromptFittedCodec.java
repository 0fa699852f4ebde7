package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.memory.MemoryPool;
import java.util.List;

/**
 * Mead without a profile: each sequence fits its tables and bit widths to its first page.
 *
 * @param unfitted codec of a sequence before its first page; its pages have the same sizes
 */
record PromptFittedCodec(MeadCodec unfitted, PromptFitter fitter) implements PageCodec {
  /**
   * @param settings codec whose tables and rates are replaced
   * @param target bits of a quantized token, all included
   */
  static PromptFittedCodec of(MeadCodec settings, PromptFitter fitter, MeadRate.RateTarget target) {
    MeadSizes sizes = fitter.sizes();
    MeadTables blank = fitter.blank();
    double values = (double) sizes.kvHeads() * (sizes.keyDim() + sizes.valueDim());
    double overhead = blank.overheadBits() / sizes.layers();
    double codes = Page.TOKENS * (target.quantized() * values - overhead) / Byte.SIZE;
    long codeBytes = Math.max(0, (long) codes);
    MeadRate rate =
        MeadRates.ofEqualLayers(blank, settings.saliency(), target.nominal(), codeBytes);
    return new PromptFittedCodec(settings.with(blank, List.of(rate)), fitter);
  }

  /** Returns the codec of the pages of a sequence. */
  MeadCodec fitted(PromptStatistics statistics) {
    MeadTables tables = fitter.tables(statistics);
    double bits = unfitted.rates().getFirst().bits();
    MeadRate rate =
        MeadRates.ofEqualLayers(tables, unfitted.saliency(), bits, unfitted.codeBytes());
    return unfitted.with(tables, List.of(rate));
  }

  @Override
  public SequenceCodec newSequence(MemoryPool pool) {
    return PromptFittedSequence.of(this, pool);
  }

  @Override
  public SequenceCodec resumeSequence(MemoryPool pool, byte[] state) {
    return MeadState.resumedFitted(this, pool, state);
  }

  @Override
  public boolean hasIndependentLayers() {
    return true;
  }

  @Override
  public long tableBytes(int quantizedBlocks) {
    return unfitted.tableBytes(quantizedBlocks) + PromptStatistics.bytesFor(fitter.sizes());
  }

  @Override
  public long pageBytes() {
    return unfitted.pageBytes();
  }

  @Override
  public long codeBytes() {
    return unfitted.codeBytes();
  }
}
