package dev.kvasir.kernel;

import dev.kvasir.error.InvalidInputException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.ServiceLoader.Provider;

/**
 * The one place that chooses an implementation, once for the process.
 *
 * @param reason a sentence that says why this one, and what was refused
 */
public record KernelChoice(Kernels kernels, String reason) {
  /** Forces a choice: {@code scalar}, or the name of a provider. */
  public static final String PROPERTY = "kvasir.kernels";

  private static final String SCALAR = "scalar";

  private static final class Once {
    static final KernelChoice CHOICE = warned(choose(System.getProperty(PROPERTY)));

    /** Whoever did not ask for it should know that all is many times slower, and what to do. */
    private static KernelChoice warned(KernelChoice choice) {
      if (choice.kernels() instanceof ScalarKernels && System.getProperty(PROPERTY) == null) {
        System.getLogger("dev.kvasir.kernel")
            .log(Level.WARNING, "scalar kernels serve, which are slow: {0}", choice.reason());
      }
      return choice;
    }
  }

  public static KernelChoice ofThisProcess() {
    return Once.CHOICE;
  }

  static KernelChoice choose(String wanted) {
    if (SCALAR.equals(wanted)) {
      return new KernelChoice(
          new ScalarKernels(), "chosen because -D%s=scalar was given".formatted(PROPERTY));
    }
    List<String> refusals = new ArrayList<>();
    List<String> known = new ArrayList<>(List.of(SCALAR));
    for (Provider<KernelProvider> found : providers()) {
      KernelProvider provider = found.get();
      known.add(provider.name());
      if (wanted != null && !provider.name().equals(wanted)) {
        continue;
      }
      Optional<String> refusal = provider.refusal();
      if (refusal.isEmpty()) {
        return new KernelChoice(
            provider.create(),
            wanted == null
                ? "the fastest that this Java virtual machine can run"
                : "chosen because -D%s=%s was given".formatted(PROPERTY, wanted));
      }
      refusals.add("%s refused: %s".formatted(provider.name(), refusal.get()));
    }
    if (wanted != null) {
      throw new InvalidInputException(
          refusals.isEmpty()
              ? "-D%s=%s is unknown; known are %s"
                  .formatted(PROPERTY, wanted, String.join(", ", known))
              : "-D%s=%s cannot be had: %s".formatted(PROPERTY, wanted, refusals.getFirst()));
    }
    String reason =
        refusals.isEmpty()
            ? "the module kvasir-simd is not on the class path"
            : String.join("; ", refusals);
    return new KernelChoice(new ScalarKernels(), reason);
  }

  private static List<Provider<KernelProvider>> providers() {
    return ServiceLoader.load(KernelProvider.class).stream().toList();
  }
}
