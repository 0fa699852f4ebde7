package dev.kvasir.natives;

import dev.kvasir.kernel.KernelProvider;
import dev.kvasir.kernel.Kernels;
import java.util.Optional;

/** Offers the native kernels where there is a library for the platform and it can be loaded. */
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
