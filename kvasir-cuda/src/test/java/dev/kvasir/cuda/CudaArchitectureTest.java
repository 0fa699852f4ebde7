package dev.kvasir.cuda;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.kvasir.cuda.formats.PageFormatProvider;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Packages use each other in one direction, and nothing names the format of a single method. */
class CudaArchitectureTest {
  private static final String ROOT = "dev.kvasir.cuda.";
  private static final JavaClasses OURS = importOurs();

  private static JavaClasses importOurs() {
    // The rules only look at names, so library classes need not be read.
    ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
    return new ClassFileImporter().importPath(Path.of("target/classes/dev/kvasir/cuda"));
  }

  @ParameterizedTest
  @CsvSource({
    "driver, memory",
    "driver, kernels",
    "driver, formats",
    "driver, engine",
    "memory, kernels",
    "memory, formats",
    "memory, engine",
    "kernels, memory",
    "kernels, formats",
    "kernels, engine",
    "formats, kernels",
    "formats, engine"
  })
  void onePackageDoesNotUseAnother(String one, String other) {
    noClasses()
        .that()
        .resideInAPackage(ROOT + one + "..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(ROOT + other + "..")
        .check(OURS);
  }

  static List<String> methodPackages() {
    return ServiceLoader.load(PageFormatProvider.class).stream()
        .map(provider -> provider.type().getPackageName())
        .filter(name -> name.startsWith(ROOT + "formats."))
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
}
