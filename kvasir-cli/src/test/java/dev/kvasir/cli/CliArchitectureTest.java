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
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The compiled classes keep to the table of rooms. */
class CliArchitectureTest {
  private static final String ROOT = "dev.kvasir.cli";

  /** What a room may touch of the command line beside itself; the root knows all of them. */
  private static final Map<String, Set<String>> MAY_TOUCH = new LinkedHashMap<>();

  static {
    MAY_TOUCH.put("run", Set.of("arguments", "terminal", "session"));
    MAY_TOUCH.put("session", Set.of("arguments", "terminal"));
    MAY_TOUCH.put("lab", Set.of("arguments", "terminal", "origin"));
    MAY_TOUCH.put("serve", Set.of("arguments", "terminal"));
    MAY_TOUCH.put("arguments", Set.of("terminal"));
    MAY_TOUCH.put("terminal", Set.of());
    MAY_TOUCH.put("origin", Set.of());
  }

  private static final JavaClasses OURS = importOurs();

  private static JavaClasses importOurs() {
    // Names are all that the rules look at: the classes of libraries need not be read.
    ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
    return new ClassFileImporter()
        .withImportOption(new ImportOption.DoNotIncludeTests())
        .importPackages(ROOT);
  }

  static Stream<String> rooms() {
    return MAY_TOUCH.keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("rooms")
  void aRoomTouchesOnlyWhatTheTableAllows(String from) {
    DescribedPredicate<JavaClass> forbidden =
        describe(
            "are in a room that %s may not touch".formatted(from), to -> isForbidden(from, to));
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
    return !room(to).equals(from) && !MAY_TOUCH.get(from).contains(room(to));
  }

  /** What follows the root in the name of a package, empty for the root itself. */
  private static String room(JavaClass type) {
    String below = type.getPackageName().substring(ROOT.length());
    return below.isEmpty() ? "" : below.substring(1);
  }

  @Test
  void everyRoomIsInTheTable() {
    DescribedPredicate<JavaClass> known =
        describe("in the table", type -> MAY_TOUCH.containsKey(room(type)));
    classes().that().resideOutsideOfPackage(ROOT).should(be(known)).check(OURS);
  }

  @Test
  void theTerminalAndTheArgumentsKnowNoLab() {
    noClasses()
        .that()
        .resideInAnyPackage(ROOT + ".terminal", ROOT + ".arguments")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("dev.kvasir.lab..")
        .check(OURS);
  }
}
