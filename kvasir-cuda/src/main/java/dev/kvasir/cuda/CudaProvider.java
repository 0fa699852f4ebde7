package dev.kvasir.cuda;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.model.EngineProvider;
import java.util.Optional;

/** Engines on NVIDIA's cards. */
public final class CudaProvider implements EngineProvider {
  @Override
  public String device() {
    return "cuda";
  }

  @Override
  public Optional<String> refusal() {
    return Device.refusal();
  }

  @Override
  public void check(Request request) {
    GgufWeights.check(request.file(), request.config());
    HeadBlocks.of(PageFormat.FP16, request.config().attentionShape());
    for (CacheSpec kind : request.kinds()) {
      HeadBlocks.of(PageKind.of(kind).format(), request.config().attentionShape());
    }
  }

  @Override
  public DecoderEngine open(Request request) {
    check(request);
    Device device = Device.first();
    try {
      return CudaEngine.open(device, request);
    } catch (CudaException e) {
      throw new DeviceRefusal("%s failed: %s".formatted(device.name(), e.getMessage()), e);
    }
  }
}
