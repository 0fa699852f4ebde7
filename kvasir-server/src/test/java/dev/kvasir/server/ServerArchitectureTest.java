package dev.kvasir.server;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks the dependencies between packages on the compiled classes. */
class ServerArchitectureTest {
  private static final String ROOT = "dev.kvasir.server";

  /** The packages that a package may use; the root may use all of them. */
  private static final Map<String, Set<String>> ALLOWED = new LinkedHashMap<>();

  static {
    ALLOWED.put(
        "http",
        Set.of("models", "state", "openai", "responses", "anthropic", "llamacpp", "watch", "api"));
    ALLOWED.put("models", Set.of());
    ALLOWED.put("state", Set.of("watch"));
    ALLOWED.put("openai", Set.of("api"));
    ALLOWED.put("anthropic", Set.of("api"));
    ALLOWED.put("llamacpp", Set.of("openai", "api"));
    ALLOWED.put("responses", Set.of("openai", "api"));
    ALLOWED.put("watch", Set.of());
    ALLOWED.put("api", Set.of());
  }

  private static final JavaClasses OURS = importOurs();

  private static JavaClasses importOurs() {
    // The rules only need names, so classes of libraries are not resolved.
    ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
    return new ClassFileImporter().importPath(Path.of("target/classes/dev/kvasir/server"));
  }

  static Stream<String> packages() {
    return ALLOWED.keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("packages")
  void packagesUseOnlyAllowedPackages(String from) {
    DescribedPredicate<JavaClass> forbidden =
        describe(
            "are in a package that %s may not use".formatted(from), to -> isForbidden(from, to));
    noClasses()
        .that()
        .resideInAPackage(ROOT + "." + from)
        .should()
        .dependOnClassesThat(forbidden)
        .check(OURS);
  }

  /** A clock that is set must not end or prolong anything; dates of responses are for display. */
  @Test
  void timeoutsDoNotReadTheClockOfTheSystem() {
    noClasses()
        .that()
        .doNotHaveSimpleName("ResponseBuilder")
        .and()
        .doNotHaveSimpleName("ResponsesFormat")
        .should()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(Instant.class, "now")
        .check(OURS);
  }

  private static boolean isForbidden(String from, JavaClass to) {
    String name = to.getPackageName();
    if (!name.startsWith(ROOT)) {
      return false;
    }
    String used = name.equals(ROOT) ? "" : name.substring(ROOT.length() + 1);
    return !used.equals(from) && !ALLOWED.get(from).contains(used);
  }
}
