package dev.kvasir.cuda.engine;

import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.model.LayerRange;
import dev.kvasir.model.ModelConfig;

/**
 * A GPU of an engine with the layers of the model that it holds.
 *
 * @param config of these layers
 */
record Card(DeviceContext context, LayerRange range, ModelConfig config, DeviceDecoder decoder) {
  /**
   * Returns the resources of a cache.
   *
   * @param cacheConfig of all layers
   */
  CacheResources resources(DeviceCacheConfig cacheConfig) {
    return context.resources(cacheConfig.ofLayers(range));
  }
}
