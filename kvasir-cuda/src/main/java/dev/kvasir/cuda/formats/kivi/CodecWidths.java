package dev.kvasir.cuda.formats.kivi;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.kivi.KiviCodec;
import dev.kvasir.cuda.formats.FormatRequest;
import java.util.List;

/** Finds the widths that the host's codec would have. */
final class CodecWidths {
  private CodecWidths() {}

  /** Returns the format of a cache; its widths are left open if the model is not known. */
  static KiviFormat format(FormatRequest request) {
    return request
        .model()
        .map(model -> format(request, model.config().cacheShape()))
        .orElseGet(() -> new KiviFormat(List.of()));
  }

  private static KiviFormat format(FormatRequest request, CacheShape shape) {
    QuantizationConfig config = request.spec().config();
    CacheContext context = request.context();
    CacheConfig cacheConfig =
        request.isEstimate()
            ? config.estimationConfig(shape, context)
            : config.cacheConfig(shape, context);
    KiviFormat format =
        KiviFormat.of((KiviCodec) cacheConfig.codec().orElseThrow(), shape.layers());
    if (format.differsByLayer() && shape.layers() > LayerCodes.MAX_LAYERS) {
      throw request.unsupported(
          "has widths for %d layers; on a device expected at most %d"
              .formatted(shape.layers(), LayerCodes.MAX_LAYERS));
    }
    return format;
  }
}
