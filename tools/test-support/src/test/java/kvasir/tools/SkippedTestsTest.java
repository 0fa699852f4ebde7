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
  void everyReasonIsOneLineWithTheTestsItKeptFromRunning() {
    assertThat(summary(Some.class))
        .containsExactly(
            "[WARNING] Skipped: no compiler is installed"
                + " (SkippedTestsTest$Some.alsoNeedsTheCompiler,"
                + " SkippedTestsTest$Some.assumesInVain)",
            "[WARNING] Skipped: the moon is full (SkippedTestsTest$Some.isDisabled)",
            "[WARNING] Skipped: too small (SkippedTestsTest$Some.isGivenManyArguments)");
  }

  @Test
  void aClassThatIsSkippedAsAWholeIsOneLine() {
    assertThat(summary(Whole.class))
        .containsExactly("[WARNING] Skipped: no browser is installed (SkippedTestsTest$Whole)");
  }

  /** Runs without the registered listener, which would print the tests that are skipped here. */
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
    void alsoNeedsTheCompiler() {
      assumeTrue(false, "no compiler is installed");
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
