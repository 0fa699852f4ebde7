package dev.kvasir.kernel;

import dev.kvasir.error.InvalidInputException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.ServiceLoader.Provider;
import java.util.function.Supplier;

/**
 * The one place that chooses an implementation, once for the process.
 *
 * @param reason a sentence that says why this one, and what was refused
 */
public record KernelChoice(Kernels kernels, String reason) {
  /** Forces a choice: {@code java}, or the name of a provider. */
  public static final String PROPERTY = "kvasir.kernels";

  /** The same for whoever cannot set properties. */
  public static final String VARIABLE = "KVASIR_KERNELS";

  /** What plain Java is called. */
  private static final String PLAIN = "java";

  /** What {@link #ask} left; null if nobody asked. */
  private static volatile Wanted asked;

  /**
   * What was asked for, and how.
   *
   * @param how such as {@code -Dkvasir.kernels=vector}
   */
  record Wanted(String name, String how) {
    static Optional<Wanted> ofThisProcess() {
      if (asked != null) {
        return Optional.of(asked);
      }
      String property = System.getProperty(PROPERTY);
      if (property != null) {
        return Optional.of(new Wanted(property, "-D%s=%s".formatted(PROPERTY, property)));
      }
      return Optional.ofNullable(System.getenv(VARIABLE))
          .filter(value -> !value.isEmpty())
          .map(value -> new Wanted(value, "%s=%s".formatted(VARIABLE, value)));
    }
  }

  /** Null until the process has chosen. */
  private static volatile KernelChoice chosen;

  /**
   * Asks for kernels by name; after the process has chosen, it changes nothing.
   *
   * @param how as people wrote it, for a refusal
   */
  public static void ask(String name, String how) {
    asked = new Wanted(name, how);
  }

  /**
   * @throws InvalidInputException if what was asked for cannot be had
   */
  public static KernelChoice ofThisProcess() {
    if (chosen == null) {
      chooseOnce();
    }
    return chosen;
  }

  private static synchronized void chooseOnce() {
    if (chosen == null) {
      Optional<Wanted> wanted = Wanted.ofThisProcess();
      KernelChoice choice = choose(wanted);
      // Whoever did not ask for it should know that all is many times slower, and what to do.
      if (choice.kernels() instanceof ScalarKernels && wanted.isEmpty()) {
        System.getLogger("dev.kvasir.kernel")
            .log(Level.WARNING, "scalar kernels serve, which are slow: {0}", choice.reason());
      }
      chosen = choice;
    }
  }

  static KernelChoice choose(Optional<Wanted> wanted) {
    List<KernelProvider> known = providers();
    wanted.ifPresent(asked -> requireKnown(asked, known));
    List<KernelProvider> able = new ArrayList<>();
    List<String> refusals = new ArrayList<>();
    for (KernelProvider provider : known) {
      Optional<String> refusal = provider.refusal();
      if (refusal.isEmpty()) {
        able.add(provider);
      } else {
        String sentence = "%s refused: %s".formatted(provider.name(), refusal.get());
        requireOther(wanted, provider, sentence);
        refusals.add(sentence);
      }
    }
    return new KernelChoice(stack(wanted, able), reason(wanted, known, able, refusals));
  }

  private static void requireKnown(Wanted wanted, List<KernelProvider> providers) {
    List<String> names = new ArrayList<>(List.of(PLAIN));
    providers.forEach(provider -> names.add(provider.name()));
    if (!names.contains(wanted.name())) {
      throw new InvalidInputException(
          "%s is unknown; known are %s".formatted(wanted.how(), String.join(", ", names)));
    }
  }

  private static void requireOther(
      Optional<Wanted> wanted, KernelProvider provider, String sentence) {
    if (wanted.isPresent() && wanted.get().name().equals(provider.name())) {
      throw new InvalidInputException(
          "%s cannot be had: %s".formatted(wanted.get().how(), sentence));
    }
  }

  /** Each on top of those beneath it, up to the one that is wanted. */
  private static Kernels stack(Optional<Wanted> wanted, List<KernelProvider> able) {
    int lanes = able.isEmpty() ? PartialSums.LEAST_LANES : able.getFirst().lanes();
    Supplier<Kernels> kernels = () -> new ScalarKernels(lanes);
    String last = wanted.map(Wanted::name).orElse("");
    if (last.equals(PLAIN)) {
      return kernels.get();
    }
    for (KernelProvider provider : able) {
      Supplier<Kernels> beneath = kernels;
      kernels = () -> provider.create(beneath, lanes);
      if (provider.name().equals(last)) {
        break;
      }
    }
    return kernels.get();
  }

  private static String reason(
      Optional<Wanted> wanted,
      List<KernelProvider> known,
      List<KernelProvider> able,
      List<String> refusals) {
    if (wanted.isPresent()) {
      return "chosen because %s was given".formatted(wanted.get().how());
    }
    if (known.isEmpty()) {
      return "neither kvasir-simd nor kvasir-native is on the class path";
    }
    String refused = String.join("; ", refusals);
    if (able.isEmpty()) {
      return refused;
    }
    String fastest = "the fastest that can run here";
    return refused.isEmpty() ? fastest : "%s; %s".formatted(fastest, refused);
  }

  /** From the lowest rank on. */
  private static List<KernelProvider> providers() {
    return ServiceLoader.load(KernelProvider.class).stream()
        .map(Provider::get)
        .sorted(Comparator.comparingInt(KernelProvider::rank))
        .toList();
  }
}
