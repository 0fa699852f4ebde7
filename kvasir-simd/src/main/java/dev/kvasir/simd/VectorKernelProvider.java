package dev.kvasir.simd;

import dev.kvasir.kernel.KernelProvider;
import dev.kvasir.kernel.Kernels;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Offers the Vector API kernels where the incubator module is there and vectors are wide enough.
 * This class names no vector type, so that it loads where the module is missing.
 */
public final class VectorKernelProvider implements KernelProvider {
  private static final String MODULE = "jdk.incubator.vector";
  private static final int LEAST_BITS = 128;

  @Override
  public String name() {
    return "vector";
  }

  @Override
  public int rank() {
    return 1;
  }

  @Override
  public Optional<String> refusal() {
    if (ModuleLayer.boot().findModule(MODULE).isEmpty()) {
      return Optional.of(
          "the module %s is not loaded; pass --add-modules %s to java".formatted(MODULE, MODULE));
    }
    if (VectorWidth.bits() < LEAST_BITS) {
      return Optional.of(
          "vectors are %d bits wide here; at least %d are needed"
              .formatted(VectorWidth.bits(), LEAST_BITS));
    }
    if (System.getProperty("java.vm.info", "").contains("interpreted")) {
      return Optional.of("code is only interpreted here; leave out -Xint");
    }
    return Optional.empty();
  }

  @Override
  public int lanes() {
    return VectorWidth.lanes();
  }

  @Override
  public Kernels create(Supplier<Kernels> beneath, int lanes) {
    return new WarmingKernels(beneath.get(), new VectorKernels());
  }
}
