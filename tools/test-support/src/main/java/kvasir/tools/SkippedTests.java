package kvasir.tools;

import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Prints at the end of a module's tests which ones did not run: one line per reason, with the
 * skipped classes and methods.
 *
 * <p>Its package is outside of {@code dev.kvasir}, which the core's architecture test scans.
 */
public final class SkippedTests implements TestExecutionListener {
  private static final String ASSUMPTION = "Assumption failed: ";

  private final SortedMap<String, SortedSet<String>> namesByReason = new TreeMap<>();
  private final Consumer<String> summary;

  public SkippedTests() {
    this(line -> System.out.println(line));
  }

  SkippedTests(Consumer<String> summary) {
    this.summary = summary;
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    add(test, Optional.ofNullable(reason));
  }

  /** A failed assumption aborts a test, or a whole class before its first test. */
  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    if (result.getStatus() == Status.ABORTED) {
      add(test, result.getThrowable().map(Throwable::getMessage));
    }
  }

  private synchronized void add(TestIdentifier test, Optional<String> reason) {
    namesByReason
        .computeIfAbsent(
            reason.map(SkippedTests::sentence).orElse("no reason given"), _ -> new TreeSet<>())
        .add(name(test));
  }

  private static String name(TestIdentifier test) {
    TestSource source = test.getSource().orElse(null);
    return switch (source) {
      case MethodSource method -> simple(method.getClassName()) + "." + method.getMethodName();
      case ClassSource whole -> simple(whole.getClassName());
      case null, default -> test.getDisplayName();
    };
  }

  private static String simple(String className) {
    return className.substring(className.lastIndexOf('.') + 1);
  }

  private static String sentence(String reason) {
    String whole = reason.startsWith(ASSUMPTION) ? reason.substring(ASSUMPTION.length()) : reason;
    return whole.strip().replaceAll("\\s+", " ");
  }

  @Override
  public synchronized void testPlanExecutionFinished(TestPlan plan) {
    namesByReason.forEach(
        (reason, names) ->
            summary.accept(
                "[WARNING] Skipped: %s (%s)".formatted(reason, String.join(", ", names))));
  }
}
