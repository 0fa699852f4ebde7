package dev.kvasir.cuda.engine;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cuda.driver.CudaException;
import dev.kvasir.cuda.driver.Device;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.formats.AttentionLimits;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.PageFormat;
import dev.kvasir.cuda.kernels.FileWeightSource;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.model.LayerRange;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.spi.EngineProvider;
import java.util.List;
import java.util.Optional;

/** Provides engines on NVIDIA GPUs. */
public final class CudaProvider implements EngineProvider {
  @Override
  public String device() {
    return "cuda";
  }

  @Override
  public Optional<String> unavailableReason() {
    return Device.unavailableReason();
  }

  @Override
  public List<DeviceDescription> devices() {
    return Device.all().stream()
        .map(device -> new DeviceDescription(device.name(), device.memoryBytes()))
        .toList();
  }

  @Override
  public void check(LoadRequest request) {
    FileWeightSource.check(request.file(), request.config());
    ModelConfig config = request.config();
    checkDivision(request);
    HeadBlocks.of(PageFormat.FP16, config.attentionShape());
    for (CacheSpec spec : request.cacheSpecs()) {
      PageFormat format = DeviceCacheConfig.of(spec).format();
      HeadBlocks.of(format, config.attentionShape());
      AttentionLimits.of(config).check(format);
    }
  }

  /** Rejects more GPUs than layers, and caches whose pages cannot be divided. */
  private static void checkDivision(LoadRequest request) {
    int count = request.ordinals().size();
    int layers = request.config().layers();
    if (count > layers) {
      throw new DeviceException(
          "%s: has %d layers for %d GPUs; expected at most one GPU for each layer"
              .formatted(request.file().name(), layers, count));
    }
    LayerRange first = new LayerRange(0, Math.ceilDiv(layers, count), layers);
    request.cacheSpecs().forEach(spec -> DeviceCacheConfig.of(spec).ofLayers(first));
  }

  @Override
  public void requireStorable(CacheSpec spec) {
    DeviceCacheConfig.of(spec).requireStorable(spec.text());
  }

  @Override
  public DecoderEngine open(LoadRequest request) {
    check(request);
    List<Device> devices = request.ordinals().stream().map(Device::at).toList();
    try {
      return CudaEngine.open(devices, request);
    } catch (CudaException e) {
      throw new DeviceException("%s failed: %s".formatted(Cards.name(devices), e.getMessage()), e);
    }
  }
}
