package dev.kvasir.store;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/**
 * The root uses all packages, each tier uses only the tier contract, and one package uses Jedis.
 */
class StoreArchitectureTest {
  private static final String ROOT = "dev.kvasir.store";
  private static final JavaClasses OURS = importOurs();

  private static JavaClasses importOurs() {
    // The rules only look at names, so library classes need not be read.
    ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
    return new ClassFileImporter().importPath(Path.of("target/classes/dev/kvasir/store"));
  }

  @Test
  void theTierContractUsesNoTier() {
    classes()
        .that()
        .resideInAPackage(ROOT + ".tier")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("java..", ROOT + ".tier")
        .check(OURS);
  }

  @Test
  void aFolderNeedsNothingButTheJdk() {
    classes()
        .that()
        .resideInAPackage(ROOT + ".folder")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("java..", ROOT + ".tier", ROOT + ".folder")
        .check(OURS);
  }

  @Test
  void redisUsesNeitherTheRootNorTheFolder() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".redis")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(ROOT, ROOT + ".folder")
        .check(OURS);
  }

  @Test
  void onlyTheRedisPackageUsesJedis() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".redis")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("redis..")
        .check(OURS);
  }
}
