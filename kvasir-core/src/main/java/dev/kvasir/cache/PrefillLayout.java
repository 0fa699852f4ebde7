package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.DenseMatrix.Precision;

/**
 * What decides the bits of a prompt in full precision. Sinks move the boundaries of blocks, and
 * with them the order in which attention sums.
 *
 * @param precision format of tokens that are not quantized
 * @param sinks number of first tokens that are never quantized
 * @param onStoredPages whether prompt rows compute on the stored representation
 * @param maxQueryRows maximum number of query rows that compute together on it
 */
record PrefillLayout(Precision precision, int sinks, boolean onStoredPages, int maxQueryRows) {
  static PrefillLayout of(CacheConfig config) {
    PageCodec codec = config.codec().orElse(null);
    return new PrefillLayout(
        config.precision(),
        config.sinks(),
        codec == null ? config.precision() != Precision.F32 : codec.prefersQuantizedPrefill(),
        codec == null ? PageReader.PREFILL_ROWS : codec.maxQueryRows());
  }
}
