package kvasir.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

class SkippedTestsTest {
  @Test
  void everySkippedTestIsNamedOnceWithItsReason() {
    assertThat(summary(Some.class))
        .containsExactly(
            "[WARNING] Skipped: SkippedTestsTest$Some.assumesInVain: no compiler is installed",
            "[WARNING] Skipped: SkippedTestsTest$Some.isDisabled: the moon is full",
            "[WARNING] Skipped: SkippedTestsTest$Some.isGivenManyArguments: too small");
  }

  @Test
  void aClassThatIsSkippedAsAWholeIsOneLine() {
    assertThat(summary(Whole.class))
        .containsExactly("[WARNING] Skipped: SkippedTestsTest$Whole: no browser is installed");
  }

  /** Without the listener that the services name, which would print what is skipped here. */
  private static List<String> summary(Class<?> tests) {
    List<String> lines = new ArrayList<>();
    LauncherFactory.create(
            LauncherConfig.builder().enableTestExecutionListenerAutoRegistration(false).build())
        .execute(
            LauncherDiscoveryRequestBuilder.request().selectors(selectClass(tests)).build(),
            new SkippedTests(lines::add));
    return lines;
  }

  static class Some {
    @Test
    void runs() {}

    @Test
    void assumesInVain() {
      assumeTrue(false, "no compiler\n  is installed");
    }

    @Test
    @Disabled("the moon is full")
    void isDisabled() {}

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void isGivenManyArguments(int size) {
      assumeTrue(size > 2, "too small");
    }
  }

  static class Whole {
    @BeforeAll
    static void needsABrowser() {
      assumeTrue(false, "no browser is installed");
    }

    @Test
    void one() {}

    @Test
    void another() {}
  }
}
