package dev.kvasir.codec;

import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.ServiceLoader.Provider;
import java.util.stream.Collectors;

/**
 * The registry: every {@link QuantizationMethod} that a file {@code
 * META-INF/services/dev.kvasir.codec.QuantizationMethod} on the class path names, those of Kvasir
 * first. Help, refusals and commands read it, so a further method is its package and a line in such
 * a file.
 */
public final class MethodRegistry {
  private static final class Holder {
    static final List<QuantizationMethod> ALL =
        ServiceLoader.load(QuantizationMethod.class, QuantizationMethod.class.getClassLoader())
            .stream()
            .map(Provider::get)
            .sorted(Comparator.comparing(MethodRegistry::isThirdParty))
            .toList();
  }

  private MethodRegistry() {}

  private static boolean isThirdParty(QuantizationMethod method) {
    return !Objects.equals(
        method.getClass().getProtectionDomain().getCodeSource(),
        QuantizationMethod.class.getProtectionDomain().getCodeSource());
  }

  public static List<QuantizationMethod> all() {
    return Holder.ALL;
  }

  /** The method that specs of this name belong to. */
  public static Optional<QuantizationMethod> named(String name) {
    return all().stream().filter(method -> method.names().contains(name)).findFirst();
  }

  /** The method of a spec, or a refusal that says which there are. */
  public static QuantizationMethod of(SpecText spec) {
    return named(spec.name())
        .orElseThrow(
            () ->
                spec.invalid(
                    "the method '%s' is unknown; known are %s".formatted(spec.name(), syntaxes())));
  }

  private static String syntaxes() {
    return all().stream().map(QuantizationMethod::syntax).collect(Collectors.joining(", "));
  }
}
