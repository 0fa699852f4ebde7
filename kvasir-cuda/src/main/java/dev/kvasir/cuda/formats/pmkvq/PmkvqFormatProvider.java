package dev.kvasir.cuda.formats.pmkvq;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.RequantizingCodec;
import dev.kvasir.codec.basis.SmoothingFactors;
import dev.kvasir.codec.pmkvq.PmkvqConfig;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.FormatRequest;
import dev.kvasir.cuda.formats.PageFormatProvider;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Provides pages of PM-KVQ. */
public final class PmkvqFormatProvider implements PageFormatProvider {
  @Override
  public String method() {
    return "pmkvq";
  }

  @Override
  public DeviceCacheConfig cacheConfig(FormatRequest request) {
    PmkvqConfig config = PmkvqConfig.of(request.text());
    request.requireExactOperands(config.operandPrecision());
    if (config.isPooled()) {
      throw request.unsupported("has the pool's budget; on a device expected one of its own");
    }
    Optional<CacheShape> shape = request.model().map(model -> model.config().cacheShape());
    return cacheConfig(config, shape, request.context());
  }

  /**
   * Returns the configuration of a cache.
   *
   * @param shape empty if only sizes of uniform widths are needed
   * @param context with the profile, and the context limit if the budget depends on it
   */
  static DeviceCacheConfig cacheConfig(
      PmkvqConfig config, Optional<CacheShape> shape, CacheContext context) {
    PmkvqFormat format =
        new PmkvqFormat(
            config.keyScales(),
            config.shift(),
            config.initialWidth(),
            shape.map(known -> floors(config, known, context)).orElse(List.of()),
            shape
                .filter(any -> config.usesSmoothing())
                .flatMap(known -> KeyFactors.of(SmoothingFactors.of(context.profile(), known))));
    return new DeviceCacheConfig(format, 0, config.window(), config.sinks());
  }

  /** Returns the floors of layers as on the host; empty if all are the same. */
  private static List<Integer> floors(PmkvqConfig config, CacheShape shape, CacheContext context) {
    RequantizingCodec codec =
        (RequantizingCodec) config.cacheConfig(shape, context).codec().orElseThrow();
    List<Integer> floors =
        IntStream.range(0, shape.layers())
            .mapToObj(layer -> PmkvqFormat.BITS[codec.floorLevel(layer)])
            .toList();
    return floors.stream().distinct().count() == 1 ? List.of() : floors;
  }
}
