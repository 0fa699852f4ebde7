package dev.kvasir;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.conditions.ArchConditions.be;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.ScalarKernels;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The compiled classes keep to the table of packages and to the names of the house. */
class ArchitectureTest {
  private static final String ROOT = "dev.kvasir";

  /** What the classes of a package, and of those below it, may touch beside their own. */
  private static final Map<String, Set<String>> MAY_TOUCH = new LinkedHashMap<>();

  static {
    MAY_TOUCH.put("text", Set.of("format", "template"));
    MAY_TOUCH.put("format", Set.of("memory"));
    MAY_TOUCH.put("profile", Set.of("format"));
    MAY_TOUCH.put(
        "model",
        Set.of("engine", "cache", "codec", "attention", "kernel", "format", "memory", "profile"));
    MAY_TOUCH.put("engine", Set.of("cache", "profile", "sampling", "text", "memory"));
    MAY_TOUCH.put("cache", Set.of("profile", "kernel", "memory", "codec", "page"));
    MAY_TOUCH.put("stored", Set.of("cache", "codec", "format", "profile", "memory"));
    MAY_TOUCH.put("attention", Set.of("cache", "codec", "kernel"));
    MAY_TOUCH.put("grammar", Set.of("text", "sampling"));
    MAY_TOUCH.put("sampling", Set.of());
    MAY_TOUCH.put("codec", Set.of("page", "kernel", "memory", "profile"));
    MAY_TOUCH.put("kernel", Set.of("page", "memory"));
    MAY_TOUCH.put("page", Set.of());
    MAY_TOUCH.put("memory", Set.of());
    MAY_TOUCH.put("error", Set.of());
    MAY_TOUCH.put("template", Set.of()); // a module of its own, held to the same names
  }

  private static final JavaClasses OURS = importOurs();

  private static JavaClasses importOurs() {
    // Names are all that the rules look at: the classes of libraries need not be read.
    ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
    return new ClassFileImporter()
        .withImportOption(new ImportOption.DoNotIncludeTests())
        .withImportOption(location -> !location.contains("-tests.jar"))
        .importPackages(ROOT);
  }

  static Stream<String> packages() {
    return MAY_TOUCH.keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("packages")
  void aPackageTouchesOnlyWhatTheTableAllows(String from) {
    DescribedPredicate<JavaClass> forbidden =
        describe(
            "are in a package that %s may not touch".formatted(from), to -> isForbidden(from, to));
    noClasses()
        .that()
        .resideInAPackage(ROOT + "." + from + "..")
        .should()
        .dependOnClassesThat(forbidden)
        .check(OURS);
  }

  private static boolean isForbidden(String from, JavaClass to) {
    if (!resideInAPackage(ROOT + "..").test(to)) {
      return false;
    }
    String touched = topPackage(to);
    return !touched.equals(from)
        && !touched.equals("error")
        && !MAY_TOUCH.get(from).contains(touched);
  }

  /** The first name below the root, empty for the root itself. */
  private static String topPackage(JavaClass type) {
    String below = type.getPackageName().substring(ROOT.length());
    return below.isEmpty() ? "" : below.substring(1).split("\\.")[0];
  }

  /** A method is one package: the registry finds it, and nothing else knows its classes. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "dense",
        "kivi",
        "patternkv",
        "mixkvq",
        "pmkvq",
        "commvq",
        "ott",
        "zipcache",
        "mikv",
        "skvq",
        "kvquant",
        "quarot",
        "turboquant",
        "rotatekv",
        "qserve",
        "kvarn",
        "oscar",
        "vqllm",
        "mead"
      })
  void nothingOutsideAMethodsPackageNamesItsClasses(String method) {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".codec." + method)
        .should()
        .dependOnClassesThat()
        .resideInAPackage(ROOT + ".codec." + method)
        .check(OURS);
  }

  /** What methods have in common knows none of them. */
  @Test
  void everyPackageOfCodecsIsAMethodOrShared() {
    Set<String> known =
        Set.of(
            "",
            "uniform",
            "basis",
            "latent",
            "dense",
            "kivi",
            "patternkv",
            "mixkvq",
            "pmkvq",
            "commvq",
            "ott",
            "ranked",
            "zipcache",
            "mikv",
            "skvq",
            "kvquant",
            "quarot",
            "turboquant",
            "rotatekv",
            "qserve",
            "kvarn",
            "oscar",
            "vqllm",
            "mead");
    DescribedPredicate<JavaClass> named =
        describe(
            "a method, or shared by methods",
            type ->
                known.contains(
                    type.getPackageName()
                        .substring((ROOT + ".codec").length())
                        .replaceFirst("^[.]", "")));
    classes().that().resideInAPackage(ROOT + ".codec..").should(be(named)).check(OURS);
  }

  /** A model's kernels are handed down: nothing that computes for it chooses others. */
  @Test
  void kernelsAreChosenWhereAModelIsLoadedOrAHostIsUnknown() {
    noClasses()
        .that()
        .resideInAnyPackage(ROOT + ".codec..", ROOT + ".attention..", ROOT + ".model..")
        .and()
        .areNotAssignableTo(CacheContext.class)
        .should()
        .dependOnClassesThat()
        .areAssignableTo(KernelChoice.class)
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(ScalarKernels.class)
        .check(OURS);
  }

  /** Scratch belongs to who runs: a thread's own outlives the model, and never shrinks. */
  @Test
  void nothingKeepsMemoryOfThreads() {
    noFields()
        .that()
        .areDeclaredInClassesThat()
        // Kernels belong to no one; what they keep is a tile or a row.
        .haveNameNotMatching("dev\\.kvasir\\.kernel\\.(ScalarGemm|RowScratch)")
        .should()
        .haveRawType(ThreadLocal.class)
        .check(OURS);
  }

  @Test
  void everyPackageIsInTheTable() {
    DescribedPredicate<JavaClass> known =
        describe("in the table", c -> MAY_TOUCH.containsKey(topPackage(c)));
    classes().that().resideOutsideOfPackage(ROOT).should(be(known)).check(OURS);
  }

  @Test
  void nothingIsUsedButTheJdkTheTokenizersAndTheJsonLibrary() {
    classes()
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(ROOT + "..", "java..", "ai.djl..", "com.google.gson..")
        .check(OURS);
  }

  @Test
  void onlyTextUsesTheTokenizerLibrary() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".text..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("ai.djl..")
        .check(OURS);
  }

  @Test
  void onlyThoseWhoReadFilesOrSchemasUseTheJsonLibrary() {
    noClasses()
        .that()
        .resideOutsideOfPackages(
            ROOT + ".text..", ROOT + ".format..", ROOT + ".model..", ROOT + ".grammar..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("com.google.gson..")
        .check(OURS);
  }

  @Test
  void noClassHasANameThatSaysNothing() {
    List<String> emptyWords =
        List.of(".*Impl", ".*Utils", ".*Manager", ".*Helper", "Abstract.*", "Default.*");
    for (String word : emptyWords) {
      DescribedPredicate<JavaClass> named =
          describe("named like " + word, type -> type.getSimpleName().matches(word));
      noClasses().should(be(named)).check(OURS);
    }
  }

  @Test
  void noMethodBeginsWithGet() {
    noMethods().should().haveNameMatching("get[A-Z].*").check(OURS);
  }

  /** Of more that lie beside each other in a call, two are swapped one day: operands hold them. */
  @Test
  void noMethodOfTheKernelsHasMoreThanSevenParameters() {
    DescribedPredicate<List<JavaClass>> many =
        describe("more than seven", parameters -> parameters.size() > 7);
    noMethods()
        .that()
        .areDeclaredInClassesThat()
        .resideInAPackage(ROOT + ".kernel..")
        .should()
        .haveRawParameterTypes(many)
        .check(OURS);
  }

  @Test
  void nothingIsPrinted() {
    noClasses().should(ACCESS_STANDARD_STREAMS).check(OURS);
  }
}
