package dev.kvasir.cli;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.conditions.ArchConditions.be;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The compiled classes respect the table of package dependencies. */
class CliArchitectureTest {
  private static final String ROOT = "dev.kvasir.cli";

  /** The other packages of the command line that a package may use; the root may use all. */
  private static final Map<String, Set<String>> MAY_USE = new LinkedHashMap<>();

  static {
    MAY_USE.put("run", Set.of("arguments", "terminal", "session"));
    MAY_USE.put("session", Set.of("arguments", "terminal"));
    MAY_USE.put("lab", Set.of("arguments", "terminal", "origin"));
    MAY_USE.put("serve", Set.of("arguments", "terminal"));
    MAY_USE.put("batch", Set.of("arguments", "serve", "terminal"));
    MAY_USE.put("models", Set.of("arguments", "terminal"));
    MAY_USE.put("setup", Set.of("arguments", "terminal", "session"));
    MAY_USE.put("arguments", Set.of("terminal"));
    MAY_USE.put("terminal", Set.of());
    MAY_USE.put("origin", Set.of());
  }

  private static final JavaClasses OURS = importOurs();

  private static JavaClasses importOurs() {
    // The rules only look at names, so library classes need not be read.
    ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
    return new ClassFileImporter().importPath(Path.of("target/classes/dev/kvasir/cli"));
  }

  static Stream<String> packages() {
    return MAY_USE.keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("packages")
  void aPackageUsesOnlyWhatTheTableAllows(String from) {
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

  private static boolean isForbidden(String from, JavaClass to) {
    if (!resideInAPackage(ROOT + "..").test(to)) {
      return false;
    }
    return !packageOf(to).equals(from) && !MAY_USE.get(from).contains(packageOf(to));
  }

  /** Returns the package name relative to the root; empty for the root itself. */
  private static String packageOf(JavaClass type) {
    String below = type.getPackageName().substring(ROOT.length());
    return below.isEmpty() ? "" : below.substring(1);
  }

  @Test
  void everyPackageIsInTheTable() {
    DescribedPredicate<JavaClass> listed =
        describe("in the table", type -> MAY_USE.containsKey(packageOf(type)));
    classes().that().resideOutsideOfPackage(ROOT).should(be(listed)).check(OURS);
  }

  @Test
  void theTerminalAndTheArgumentsDoNotUseTheLab() {
    noClasses()
        .that()
        .resideInAnyPackage(ROOT + ".terminal", ROOT + ".arguments")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("dev.kvasir.lab..")
        .check(OURS);
  }
}
