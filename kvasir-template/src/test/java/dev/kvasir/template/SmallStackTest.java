package dev.kvasir.template;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Deeply nested templates never overflow the caller's stack. */
class SmallStackTest {
  /** Java's default is at least four times as large. */
  private static final long STACK = 256 << 10;

  private static final List<String> DEEP =
      List.of(
          "{% macro f() %}{% for i in [1] %}{% if i %}{{ f() }}{% endif %}{% endfor %}{% endmacro %}"
              + "{{ f() }}",
          "{% macro f() %}{{ ('a' ~ f(x=f()))|upper }}{% endmacro %}{{ f() }}",
          "{% macro f() %}{% call f() %}{{ caller() }}{% endcall %}{% endmacro %}{{ f() }}",
          "{% macro f(x=g()) %}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro %}{{ f() }}",
          "{% set l = [] %}{% set _ = l.append(l) %}{{ l }}",
          "{% set l = [] %}{% set _ = l.append(l) %}{{ l|tojson }}",
          print("+ 1 ".repeat(2000)),
          print("~ 1 ".repeat(2000)),
          print("and 1 ".repeat(2000)),
          print(".x".repeat(2000)),
          print("|abs".repeat(2000)),
          print("* 1 ".repeat(2000)),
          nested("(", "1", ")"),
          nested("[", "1", "]"),
          nested("{1:", "1", "}"),
          nested("not ", "1", ""),
          nested("- ", "1", ""),
          nested("1 if 0 else ", "1", ""),
          nested("f(", "1", ")"),
          nested("x[", "1", "]"),
          "{% if 1 %}".repeat(500) + "{% endif %}".repeat(500));

  private static String print(String links) {
    return "{{ 1 " + links + " }}";
  }

  private static String nested(String open, String core, String close) {
    return "{{ " + open.repeat(500) + core + close.repeat(500) + " }}";
  }

  @Test
  void deepTemplatesEndOnASmallStack() throws Exception {
    onSmallStack(SmallStackTest::endAll);
  }

  /** Interpreted frames are the largest, and the set of compiled methods varies between runs. */
  @Test
  void deepTemplatesEndOnASmallStackOfInterpretedFrames() throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String path = System.getProperty("java.class.path");
    var process =
        new ProcessBuilder(java, "-Xint", "-cp", path, SmallStackTest.class.getName())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor()).as(output).isZero();
    assertThat(output).isEqualTo("ended\n");
  }

  /** Runs in a separate process. */
  public static void main(String[] arguments) throws Exception {
    onSmallStack(SmallStackTest::endAll);
    System.out.print("ended\n");
  }

  private static Void endAll() {
    for (String source : DEEP) {
      try {
        Rendering.render(source);
      } catch (TemplateException _) {
        // Rejected, as expected; any other error would fail the test.
      }
    }
    return null;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 10, 11, 24, 60, 90})
  void aNestedListIsRenderedOnEitherStack(int depth) {
    String list = "[".repeat(depth) + "1" + "]".repeat(depth);
    assertThat(Rendering.render("{{ " + list + " }}{{ " + list + "|tojson }}"))
        .isEqualTo(list + list);
  }

  @Test
  void traversalsOfDeepValuesEndOnASmallStack() throws Exception {
    String source =
        "{% set ns = namespace(l=[], m=[]) %}{% for i in range(190) %}{% set ns.l = [ns.l] %}"
            + "{% set ns.m = [ns.m] %}{% endfor %}{{ ns.l == ns.m }}{{ (ns.l|tojson)|length }}";
    assertThat(onSmallStack(() -> Rendering.render(source))).isEqualTo("True382");
  }

  @Test
  void variablesMayBeNestedDeeply() throws Exception {
    Object value = 7;
    for (int i = 0; i < 150; i++) {
      value = i % 2 == 0 ? List.of(value) : Map.of("k", value);
    }
    var variables = Map.of("x", value);
    String text = onSmallStack(() -> Rendering.render("{{ x|tojson }}", variables));
    assertThat(text).startsWith("{\"k\": [{\"k\"").contains("7");
  }

  /** The interrupt waits for the caller's next interruptible step. */
  @Test
  void anInterruptedCallerGetsItsTextAndStaysInterrupted() {
    Thread.currentThread().interrupt();
    String list = "[".repeat(80) + "]".repeat(80);
    assertThat(Rendering.render("{{ " + list + " }}")).isEqualTo(list);
    assertThat(Thread.interrupted()).isTrue();
  }

  private static <T> T onSmallStack(Callable<T> action) throws Exception {
    var task = new FutureTask<>(action);
    new Thread(null, task, "small", STACK).start();
    return task.get();
  }
}
