package dev.kvasir.server;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The compiled classes keep to the table of rooms. */
class ServerArchitectureTest {
  private static final String ROOT = "dev.kvasir.server";

  /** What a room may touch of the server beside itself; the root knows all of them. */
  private static final Map<String, Set<String>> MAY_TOUCH = new LinkedHashMap<>();

  static {
    MAY_TOUCH.put("http", Set.of("state", "openai", "answer", "store", "watch", "api"));
    MAY_TOUCH.put("state", Set.of("openai", "answer", "store", "watch"));
    MAY_TOUCH.put("openai", Set.of("answer", "api"));
    MAY_TOUCH.put("answer", Set.of("store", "watch", "api"));
    MAY_TOUCH.put("store", Set.of("watch"));
    MAY_TOUCH.put("watch", Set.of());
    MAY_TOUCH.put("api", Set.of());
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
    String name = to.getPackageName();
    if (!name.startsWith(ROOT)) {
      return false;
    }
    String room = name.equals(ROOT) ? "" : name.substring(ROOT.length() + 1);
    return !room.equals(from) && !MAY_TOUCH.get(from).contains(room);
  }
}
