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
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.MethodRegistry;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.ScalarKernels;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks that compiled classes follow the table of package dependencies and the naming rules. */
class ArchitectureTest {
  private static final String ROOT = "dev.kvasir";

  /** The packages that a package and its subpackages may use besides themselves. */
  private static final Map<String, Set<String>> MAY_USE = new LinkedHashMap<>();

  static {
    MAY_USE.put(
        "chat",
        Set.of(
            "",
            "spi",
            "runtime",
            "text",
            "grammar",
            "sampling",
            "format",
            "engine",
            "model",
            "cache",
            "codec",
            "memory"));
    MAY_USE.put(
        "runtime",
        Set.of(
            "",
            "choice",
            "encoder",
            "hub",
            "spi",
            "engine",
            "model",
            "stored",
            "text",
            "grammar",
            "sampling",
            "cache",
            "codec",
            "kernel",
            "format",
            "memory",
            "profile"));
    MAY_USE.put(
        "spi",
        Set.of("runtime", "engine", "model", "cache", "codec", "kernel", "format", "profile"));
    MAY_USE.put("text", Set.of("format", "template"));
    MAY_USE.put("format", Set.of("memory"));
    MAY_USE.put("encoder", Set.of("format", "kernel", "memory"));
    MAY_USE.put("hub", Set.of("", "format"));
    MAY_USE.put("profile", Set.of("format"));
    MAY_USE.put(
        "model",
        Set.of(
            "spi",
            "engine",
            "cache",
            "codec",
            "attention",
            "kernel",
            "format",
            "memory",
            "profile"));
    MAY_USE.put("engine", Set.of("", "cache", "profile", "sampling", "text", "memory"));
    MAY_USE.put("cache", Set.of("", "spi", "profile", "kernel", "memory", "codec", "page"));
    MAY_USE.put("choice", Set.of("spi", "cache", "codec", "format"));
    MAY_USE.put("stored", Set.of("cache", "codec", "format", "profile", "memory"));
    MAY_USE.put("attention", Set.of("cache", "codec", "kernel"));
    MAY_USE.put("grammar", Set.of("text", "sampling"));
    MAY_USE.put("sampling", Set.of(""));
    MAY_USE.put("codec", Set.of("spi", "page", "kernel", "memory", "profile"));
    MAY_USE.put("kernel", Set.of("spi", "page", "memory"));
    MAY_USE.put("page", Set.of());
    MAY_USE.put("memory", Set.of(""));
    MAY_USE.put("error", Set.of(""));
    MAY_USE.put("template", Set.of()); // a module of its own, with the same naming rules
  }

  private static final JavaClasses OURS = importOurs();

  private static JavaClasses importOurs() {
    // The rules only need names, so library classes need not be read.
    ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
    return new ClassFileImporter()
        .importPaths(
            Path.of("target/classes/dev/kvasir"),
            Path.of("../kvasir-template/target/classes/dev/kvasir"));
  }

  static Stream<String> packages() {
    return MAY_USE.keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("packages")
  void aPackageUsesOnlyWhatTheTableAllows(String from) {
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
        && !MAY_USE.get(from).contains(touched);
  }

  /** Returns the first package name below the root; empty for the root itself. */
  private static String topPackage(JavaClass type) {
    String below = type.getPackageName().substring(ROOT.length());
    return below.isEmpty() ? "" : below.substring(1).split("\\.")[0];
  }

  /** Whoever computes must not depend on how applications see it. */
  @Test
  void onlyTheImplementationOfTheApiUsesMoreThanItsValueTypes() {
    noClasses()
        .that()
        .resideOutsideOfPackages(ROOT, ROOT + ".runtime", ROOT + ".chat")
        .should()
        .dependOnClassesThat()
        .belongToAnyOf(Model.class, Session.class, ChatModel.class, Embedder.class, Reranker.class)
        .check(OURS);
  }

  /** Returns the packages of the registered methods that lie below {@code dev.kvasir.codec}. */
  static List<String> methodPackages() {
    return MethodRegistry.all().stream()
        .map(method -> method.getClass().getPackageName())
        .filter(name -> name.startsWith(ROOT + ".codec."))
        .distinct()
        .toList();
  }

  /** A method is one package: the registry finds it, and nothing else names its classes. */
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

  /** Code shared by methods refers to none of them. */
  @Test
  void everyPackageOfCodecsIsAMethodOrShared() {
    Set<String> known = new HashSet<>(methodPackages());
    for (String shared : List.of("", ".uniform", ".basis", ".latent", ".mixed")) {
      known.add(ROOT + ".codec" + shared);
    }
    DescribedPredicate<JavaClass> named =
        describe("a method, or shared by methods", type -> known.contains(type.getPackageName()));
    classes().that().resideInAPackage(ROOT + ".codec..").should(be(named)).check(OURS);
  }

  /** A model's kernels are passed down; code that computes for it never selects others. */
  @Test
  void kernelsAreChosenWhereAModelIsLoadedOrTheContextIsUnknown() {
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

  /**
   * The caller owns scratch memory: thread-local memory would outlive the model and never be freed.
   */
  @Test
  void nothingUsesThreadLocalMemory() {
    noFields()
        .that()
        .areDeclaredInClassesThat()
        // Kernels have no owner; they keep only a tile or a row.
        .haveNameNotMatching("dev\\.kvasir\\.kernel\\.(ScalarGemm|RowScratch)")
        .should()
        .haveRawType(ThreadLocal.class)
        .check(OURS);
  }

  @Test
  void everyPackageIsInTheTable() {
    DescribedPredicate<JavaClass> known =
        describe("in the table", c -> MAY_USE.containsKey(topPackage(c)));
    classes().that().resideOutsideOfPackage(ROOT).should(be(known)).check(OURS);
  }

  @Test
  void nothingIsUsedButTheJdkTheTokenizersAndTheJsonLibrary() {
    classes()
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            ROOT + "..", "java..", "javax.net.ssl..", "jdk.jfr..", "ai.djl..", "com.google.gson..")
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
            ROOT + ".text..",
            ROOT + ".format..",
            ROOT + ".model..",
            ROOT + ".grammar..",
            ROOT + ".chat..",
            ROOT + ".choice..",
            ROOT + ".hub..")
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
    noMethods()
        .that()
        .areDeclaredInClassesThat()
        // The JDK's interface for the body of an HTTP answer has a method getBody.
        .areNotAssignableTo(BodySubscriber.class)
        .should()
        .haveNameMatching("get[A-Z].*")
        .check(OURS);
  }

  /** Adjacent arguments get swapped when there are many, so operand types group them. */
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

  /** A clock that is set must not end or prolong anything. */
  @Test
  void timeoutsDoNotReadTheClockOfTheSystem() {
    noClasses()
        .that()
        .resideInAnyPackage(ROOT + ".chat..", ROOT + ".engine..", ROOT + ".memory..")
        .should()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(Instant.class, "now")
        .check(OURS);
  }

  @Test
  void nothingIsPrinted() {
    noClasses().should(ACCESS_STANDARD_STREAMS).check(OURS);
  }
}
