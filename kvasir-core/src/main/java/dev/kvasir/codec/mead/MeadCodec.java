package dev.kvasir.codec.mead;

import dev.kvasir.codec.LayerWindows;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.ResidualTokenStats;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.memory.MemoryPool;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Mead with its settings, for one model.
 *
 * @param rates from high to low; pages that are never requantized use the first
 * @param window number of queries whose attention counts for a token: those before it is quantized
 * @param lateSinks tokens per layer that stay unquantized because of the attention they receive
 * @param storesMeanErrors whether a page stores the mean quantization error of its values
 * @param windows sliding windows of layers that evict pages; none if all layers retain all pages
 */
record MeadCodec(
    MeadTables tables,
    List<MeadRate> rates,
    SaliencyMetric saliency,
    int sinks,
    int window,
    int lateSinks,
    boolean storesMeanErrors,
    LayerWindows windows,
    Kernels kernels)
    implements PageCodec {
  private static final int PREFILL_CHUNK = 256;

  @Override
  public SequenceCodec newSequence(MemoryPool pool) {
    return new MeadSequence(this, pool);
  }

  @Override
  public SequenceCodec resumeSequence(MemoryPool pool, byte[] state) {
    return MeadState.resumed(this, pool, state);
  }

  /** Returns the same settings with other tables and rates. */
  MeadCodec with(MeadTables otherTables, List<MeadRate> otherRates) {
    return new MeadCodec(
        otherTables,
        otherRates,
        saliency,
        sinks,
        window,
        lateSinks,
        storesMeanErrors,
        windows,
        kernels);
  }

  int maxResidualTokens() {
    return maxResidualTokens(sinks, window);
  }

  /**
   * Returns the largest number of unquantized tokens. A whole prefill chunk arrives before any of
   * it is quantized.
   */
  static int maxResidualTokens(int sinks, int window) {
    return sinks + window + Page.TOKENS + PREFILL_CHUNK;
  }

  /** Pages of a block share its token ids, which the page of the first layer has. */
  @Override
  public boolean hasIndependentLayers() {
    return !tables.needsTokenIds();
  }

  /** Returns whether layers evict pages. */
  boolean evictsPages() {
    return windows.windows().stream().anyMatch(window -> window != LayerWindows.UNBOUNDED);
  }

  /** Returns the layers that are quantized: their windows reach behind the residual window. */
  IntStream quantizedLayers() {
    return IntStream.range(0, tables.sizes().layers())
        .filter(layer -> windows.of(layer) >= window + (long) Page.TOKENS);
  }

  /** Returns the rate with the given bits, or fails if this cache has no such rate. */
  MeadRate requireRate(SnapshotHeader form, double bits) {
    return rates.stream()
        .filter(rate -> rate.bits() == bits)
        .findFirst()
        .orElseThrow(
            () ->
                form.invalid(
                    "has %s bits; this cache has %s"
                        .formatted(bits, rates.stream().map(MeadRate::bits).toList())));
  }

  @Override
  public long tableBytes(int quantizedBlocks) {
    return LateSinks.bytesFor(tables, lateSinks)
        + ResidualTokenStats.bytesFor(
            tables.sizes().layers(), tables.sizes().kvHeads(), maxResidualTokens());
  }

  /** Returns the bytes of a layer's page, including token ids. */
  long pageBytes(int layer, int level) {
    long ids = layer == 0 && tables.needsTokenIds() ? BlockTokenIds.BYTES : 0;
    return ids + (tables.isTokenDetermined(layer) ? 0 : layout(layer, level).bytes());
  }

  /** Returns the code bytes of a layer's page. */
  long codeBytes(int layer, int level) {
    return tables.isTokenDetermined(layer) ? 0 : layout(layer, level).codeBytes();
  }

  private MeadPageLayout layout(int layer, int level) {
    return rates.get(level).layers().get(layer).layout();
  }

  /** Returns the bytes of the largest page of any layer. */
  @Override
  public long pageBytes() {
    return layers(layer -> pageBytes(layer, 0)).max().orElse(0);
  }

  @Override
  public long codeBytes() {
    return layers(layer -> codeBytes(layer, 0)).max().orElse(0);
  }

  @Override
  public long pageBytes(int layer) {
    return pageBytes(layer, 0);
  }

  @Override
  public long codeBytes(int layer) {
    return codeBytes(layer, 0);
  }

  private LongStream layers(IntToLongFunction bytes) {
    return IntStream.range(0, tables.sizes().layers()).mapToLong(bytes);
  }

  @Override
  public long sharedBytes() {
    return tables.bytes() + rates.stream().mapToLong(MeadRate::bytes).sum();
  }
}
