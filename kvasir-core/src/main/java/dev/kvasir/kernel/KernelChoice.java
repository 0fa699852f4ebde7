package dev.kvasir.kernel;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.spi.KernelProvider;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.ServiceLoader.Provider;

/**
 * The kernels that this process uses, chosen once.
 *
 * @param reason a sentence that says why these kernels were chosen and which ones are unavailable
 */
public record KernelChoice(Kernels kernels, String reason) {
  /** System property that forces a choice: {@code java} or the name of a provider. */
  public static final String PROPERTY = "kvasir.kernels";

  /** Environment variable with the same meaning. */
  public static final String VARIABLE = "KVASIR_KERNELS";

  /** Name of the kernels in plain Java. */
  private static final String PLAIN = "java";

  /** The request made by {@link #request}, or null. */
  private static volatile KernelRequest requested;

  /**
   * A request for kernels by name.
   *
   * @param origin the setting that made the request, such as {@code -Dkvasir.kernels=java}
   */
  record KernelRequest(String name, String origin) {
    static Optional<KernelRequest> ofThisProcess() {
      if (requested != null) {
        return Optional.of(requested);
      }
      String property = System.getProperty(PROPERTY);
      if (property != null) {
        return Optional.of(new KernelRequest(property, "-D%s=%s".formatted(PROPERTY, property)));
      }
      return Optional.ofNullable(System.getenv(VARIABLE))
          .filter(value -> !value.isEmpty())
          .map(value -> new KernelRequest(value, "%s=%s".formatted(VARIABLE, value)));
    }
  }

  /** Null until the process has chosen. */
  private static volatile KernelChoice chosen;

  /**
   * Requests kernels by name. Has no effect once the process has chosen.
   *
   * @param origin the setting as the user wrote it, for error messages
   */
  public static void request(String name, String origin) {
    requested = new KernelRequest(name, origin);
  }

  /**
   * Returns the choice of this process, making it on the first call.
   *
   * @throws InvalidInputException if the requested kernels are unavailable
   */
  public static KernelChoice ofThisProcess() {
    if (chosen == null) {
      chooseOnce();
    }
    return chosen;
  }

  private static synchronized void chooseOnce() {
    if (chosen == null) {
      Optional<KernelRequest> request = KernelRequest.ofThisProcess();
      KernelChoice choice = choose(request);
      // Only here, because creating a logger adds tens of milliseconds to startup.
      if (choice.kernels() instanceof ScalarKernels && request.isEmpty()) {
        System.getLogger("dev.kvasir.kernel")
            .log(Level.WARNING, "running on Java kernels, which are slow: {0}", choice.reason());
      }
      chosen = choice;
    }
  }

  static KernelChoice choose(Optional<KernelRequest> request) {
    List<KernelProvider> known = providers();
    request.ifPresent(named -> requireKnown(named, known));
    if (request.isPresent() && request.get().name().equals(PLAIN)) {
      return new KernelChoice(new ScalarKernels(), requested(request.get()));
    }
    List<String> refusals = new ArrayList<>();
    for (KernelProvider provider : known) {
      if (request.isPresent() && !request.get().name().equals(provider.name())) {
        continue;
      }
      Optional<String> refusal = provider.unavailableReason();
      if (refusal.isEmpty()) {
        String why = request.map(KernelChoice::requested).orElse("the fastest that can run here");
        return new KernelChoice(provider.create(), why);
      }
      String sentence = "%s refused: %s".formatted(provider.name(), refusal.get());
      if (request.isPresent()) {
        throw new InvalidInputException(
            "%s cannot be had: %s".formatted(request.get().origin(), sentence));
      }
      refusals.add(sentence);
    }
    String why =
        refusals.isEmpty() ? "kvasir-native is not on the class path" : String.join("; ", refusals);
    return new KernelChoice(new ScalarKernels(), why);
  }

  private static String requested(KernelRequest request) {
    return "chosen because %s was given".formatted(request.origin());
  }

  private static void requireKnown(KernelRequest request, List<KernelProvider> providers) {
    List<String> names = new ArrayList<>(List.of(PLAIN));
    providers.forEach(provider -> names.add(provider.name()));
    if (!names.contains(request.name())) {
      throw new InvalidInputException(
          "%s is unknown; known are %s".formatted(request.origin(), String.join(", ", names)));
    }
  }

  private static List<KernelProvider> providers() {
    return ServiceLoader.load(KernelProvider.class).stream().map(Provider::get).toList();
  }
}
