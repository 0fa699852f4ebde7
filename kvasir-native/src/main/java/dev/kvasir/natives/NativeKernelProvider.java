package dev.kvasir.natives;

import dev.kvasir.kernel.KernelProvider;
import dev.kvasir.kernel.Kernels;
import java.util.Optional;
import java.util.function.Supplier;

/** Offers the native kernels where there is a library for the platform and it can be loaded. */
public final class NativeKernelProvider implements KernelProvider {
  @Override
  public String name() {
    return "native";
  }

  @Override
  public int rank() {
    return 2;
  }

  @Override
  public Optional<String> refusal() {
    return Optional.ofNullable(Calls.refusal()).map(NativeRefusal::getMessage);
  }

  @Override
  public int lanes() {
    return Calls.forFloats().lanes();
  }

  @Override
  public Kernels create(Supplier<Kernels> beneath, int lanes) {
    Calls.useLanes(lanes);
    return new NativeKernels(); // it leaves nothing
  }
}
