package dev.kvasir.codec;

import dev.kvasir.error.Spelling;
import dev.kvasir.spi.QuantizationMethod;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.ServiceLoader.Provider;
import java.util.stream.Collectors;

/**
 * All available quantization methods: every {@link QuantizationMethod} named in a file {@code
 * META-INF/services/dev.kvasir.spi.QuantizationMethod} on the class path, Kvasir's own first,
 * whatever the order of the class path. Help, error messages and commands read the registry. To add
 * a method, provide its package and a line in such a file.
 */
public final class MethodRegistry {
  private static final class Holder {
    static final List<QuantizationMethod> ALL =
        ServiceLoader.load(QuantizationMethod.class, QuantizationMethod.class.getClassLoader())
            .stream()
            .map(Provider::get)
            .sorted(Comparator.comparing(MethodRegistry::rank))
            .toList();
  }

  private MethodRegistry() {}

  /** Returns 0 for methods of the core, 1 for those of kvasir-methods, and 2 for all others. */
  private static int rank(QuantizationMethod method) {
    boolean isOfCore =
        Objects.equals(
            method.getClass().getProtectionDomain().getCodeSource(),
            QuantizationMethod.class.getProtectionDomain().getCodeSource());
    boolean isBaseline = method.getClass().getPackageName().startsWith("dev.kvasir.methods.");
    return isOfCore ? 0 : isBaseline ? 1 : 2;
  }

  public static List<QuantizationMethod> all() {
    return Holder.ALL;
  }

  /** Returns the method for specs that start with a name. */
  public static Optional<QuantizationMethod> named(String name) {
    return all().stream().filter(method -> method.names().contains(name)).findFirst();
  }

  /**
   * Returns the method of a spec.
   *
   * @throws dev.kvasir.error.InvalidInputException if there is none; the message names the method
   *     that was meant, or the known ones
   */
  public static QuantizationMethod of(SpecText spec) {
    return named(spec.name())
        .orElseThrow(
            () ->
                spec.invalid(
                    "the method '%s' is unknown; %s".formatted(spec.name(), hint(spec.name()))));
  }

  private static String hint(String name) {
    return OtherEngines.equivalent(name)
        .map("the nearest here is '%s'"::formatted)
        .orElseGet(() -> Spelling.hintOr(name, names(), "known are " + syntaxes()));
  }

  private static List<String> names() {
    return all().stream().flatMap(method -> method.names().stream()).toList();
  }

  private static String syntaxes() {
    return all().stream().map(QuantizationMethod::syntax).collect(Collectors.joining(", "));
  }
}
