package dev.kvasir.codec.mead;

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
 * The method with its settings, for one model.
 *
 * @param tables of the model
 * @param rates from high to low; pages that do not shrink have the first
 * @param window for how many queries a token's received attention counts: those that come before it
 *     is packed
 * @param lateSinks tokens of a layer that stay exact for the attention that they receive
 * @param keepsMeans whether a page keeps what its values are wrong by on the whole
 */
record MeadCodec(
    MeadTables tables,
    List<MeadRate> rates,
    SaliencyMetric saliency,
    int sinks,
    int window,
    int lateSinks,
    boolean storesMeanErrors,
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

  /** Tokens that are not packed at the most: those of a prompt's step come before it is packed. */
  int maxResidualTokens() {
    return sinks + window + Page.TOKENS + PREFILL_CHUNK;
  }

  /** The rate of so many bits, if pages may have it. */
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

  /** Bytes of a layer's page, those of the tokens' ids included. */
  long pageBytes(int layer, int level) {
    long ids = layer == 0 && tables.needsTokenIds() ? BlockTokenIds.BYTES : 0;
    return ids + (tables.isTokenDetermined(layer) ? 0 : layout(layer, level).bytes());
  }

  /** Those of its bytes that are codes. */
  long codeBytes(int layer, int level) {
    return tables.isTokenDetermined(layer) ? 0 : layout(layer, level).codeBytes();
  }

  private MeadPageLayout layout(int layer, int level) {
    return rates.get(level).layers().get(layer).layout();
  }

  /** Of the layer that has the largest. */
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
