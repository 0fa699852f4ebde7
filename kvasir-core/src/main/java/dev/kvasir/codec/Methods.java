package dev.kvasir.codec;

import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.ServiceLoader.Provider;
import java.util.stream.Collectors;

/**
 * The registry: every {@link Method} that a file {@code META-INF/services/dev.kvasir.codec.Method}
 * on the class path names, those of Kvasir first. Help, refusals and commands read it, so a further
 * method is its package and a line in such a file.
 */
public final class Methods {
  private static final class Once {
    static final List<Method> ALL =
        ServiceLoader.load(Method.class, Method.class.getClassLoader()).stream()
            .map(Provider::get)
            .sorted(Comparator.comparing(Methods::isForeign))
            .toList();
  }

  private Methods() {}

  private static boolean isForeign(Method method) {
    return !Objects.equals(
        method.getClass().getProtectionDomain().getCodeSource(),
        Method.class.getProtectionDomain().getCodeSource());
  }

  public static List<Method> all() {
    return Once.ALL;
  }

  /** The method that specs of this name belong to. */
  public static Optional<Method> named(String name) {
    return all().stream().filter(method -> method.names().contains(name)).findFirst();
  }

  /** The method of a spec, or a refusal that says which there are. */
  public static Method of(SpecText spec) {
    return named(spec.name())
        .orElseThrow(
            () ->
                spec.wrong(
                    "the method '%s' is unknown; known are %s".formatted(spec.name(), typed())));
  }

  private static String typed() {
    return all().stream().map(Method::typed).collect(Collectors.joining(", "));
  }
}
