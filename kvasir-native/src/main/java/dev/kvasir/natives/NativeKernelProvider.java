package dev.kvasir.natives;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.spi.KernelProvider;
import java.util.Optional;

/** Provides the native kernels if the platform has a library and it can be loaded. */
public final class NativeKernelProvider implements KernelProvider {
  @Override
  public String name() {
    return "native";
  }

  @Override
  public Optional<String> unavailableReason() {
    return Optional.ofNullable(NativeFunctions.unavailable())
        .map(NativeUnavailableException::getMessage);
  }

  @Override
  public Kernels create() {
    return new NativeKernels();
  }
}
