package dev.kvasir.methods;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.kvasir.codec.MethodRegistry;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A baseline is one package, which uses what the core offers to every method. */
class MethodsArchitectureTest {
  private static final String ROOT = "dev.kvasir.methods";

  private static final JavaClasses OURS = importOurs();

  private static JavaClasses importOurs() {
    // The rules only look at names, so other classes need not be read.
    ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
    return new ClassFileImporter().importPath(Path.of("target/classes/dev/kvasir/methods"));
  }

  static List<String> methodPackages() {
    return MethodRegistry.all().stream()
        .map(method -> method.getClass().getPackageName())
        .filter(name -> name.startsWith(ROOT + "."))
        .distinct()
        .toList();
  }

  @ParameterizedTest
  @MethodSource("methodPackages")
  void nothingOutsideAMethodsPackageNamesItsClasses(String method) {
    noClasses()
        .that()
        .resideOutsideOfPackage(method)
        .should()
        .dependOnClassesThat()
        .resideInAPackage(method)
        .check(OURS);
  }

  @Test
  void methodsUseWhatTheCoreOffersToEveryMethod() {
    classes()
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            ROOT + "..",
            "java..",
            "dev.kvasir.codec..",
            "dev.kvasir.page..",
            "dev.kvasir.kernel..",
            "dev.kvasir.memory..",
            "dev.kvasir.profile..",
            "dev.kvasir.error..")
        .check(OURS);
  }
}
