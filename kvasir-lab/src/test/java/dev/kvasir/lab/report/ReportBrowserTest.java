package dev.kvasir.lab.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Opens reports in a real browser if one is installed; screenshots go to target/report. */
class ReportBrowserTest {
  /** Charts of the example: six tasks, one line, two grids of six rows, bytes, two KV heads. */
  private static final int CHARTS = 6 + 1 + 2 * 6 + 1 + 2;

  private static final String ATTACK =
      "<img src=x onerror='window.attacked=1'><script>attacked=1</script>";

  @TempDir private static Path folder;
  private static Browser browser;
  private static Path page;

  @BeforeAll
  static void openBrowser() throws IOException {
    Optional<Path> program = Browser.find();
    assumeTrue(
        program.isPresent(),
        "no chromium, chromium-browser or google-chrome is on the PATH, and KVASIR_BROWSER names none");
    browser = new Browser(program.get(), folder.resolve("profile"));
    page = folder.resolve("report.html");
    new Report(
            Examples.evaluation("kvasir-mini", "kivi:3,group=32,window=256,sinks=4"),
            Optional.of(Examples.keyRanges()),
            Examples.PROVENANCE)
        .write(page);
  }

  @AfterAll
  static void closeBrowser() {
    if (browser != null) {
      browser.close();
    }
  }

  @ParameterizedTest(name = "{0} px, {1}")
  @CsvSource({"400, light", "1280, dark"})
  void everyChartIsDrawnAndNothingIsWiderThanThePage(int width, String scheme) throws IOException {
    browser.open(page, width, scheme);
    browser.screenshot(Path.of("target", "report", "%d-%s.png".formatted(width, scheme)));
    assertThat(browser.errors()).isEmpty();
    assertThat(browser.requests()).allMatch(address -> address.startsWith("file:")).hasSize(1);
    assertThat(browser.value("document.querySelectorAll('.chart').length").getAsInt())
        .isEqualTo(CHARTS);
    assertThat(browser.value("document.documentElement.scrollWidth").getAsInt())
        .isLessThanOrEqualTo(width);
    assertThat(browser.value(OUTSIDE).getAsString()).isEmpty();
  }

  /** Text of a chart that starts or ends outside of it. */
  private static final String OUTSIDE =
      """
      [...document.querySelectorAll('.chart')].flatMap(chart => {
        const frame = chart.getBoundingClientRect();
        return [...chart.querySelectorAll('svg text')].filter(text => {
          const box = text.getBoundingClientRect();
          return box.left < frame.left - 1 || box.right > frame.right + 1
            || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
        }).map(text => chart.parentNode.firstChild.textContent + ': ' + text.textContent);
      }).join('; ')
      """;

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"serif", "DejaVu Sans Mono"})
  void textStaysInsideChartsInEveryFont(String family) throws IOException {
    assumeTrue(
        browser.value(IS_AVAILABLE.formatted(family)).getAsBoolean(),
        () -> "the font %s is not installed".formatted(family));
    textStaysInside(pageWith("body { font-family: %s }".formatted(family)));
  }

  /** Whether a font family is generic or renders with different widths than the fallback. */
  private static final String IS_AVAILABLE =
      """
      (family => {
        const pen = document.createElement('canvas').getContext('2d');
        const width = font => {
          pen.font = `40px ${font}`;
          return pen.measureText('Kvasir 0123').width;
        };
        const generic = ['serif', 'monospace'];
        return generic.includes(family)
          || generic.some(other => width(`${family}, ${other}`) !== width(other));
      })('%s')
      """;

  /** Wider and taller than usual fonts; a machine without any of these uses its own. */
  @Test
  void textStaysInsideChartsInAWideFont() throws IOException {
    Path vast =
        pageWith(
            """
            @font-face {
              font-family: Vast;
              src: local('DejaVu Sans'), local('Liberation Sans'), local('Arial');
              size-adjust: 140%;
              ascent-override: 120%;
              descent-override: 60%;
            }
            body { font-family: Vast, sans-serif }
            """);
    textStaysInside(vast);
  }

  private static Path pageWith(String style) throws IOException {
    String styled = "<style>%s</style></head>".formatted(style);
    return Files.writeString(
        folder.resolve("styled.html"), Files.readString(page).replaceFirst("</head>", styled));
  }

  private static void textStaysInside(Path styled) {
    for (int width : List.of(400, 1280)) {
      browser.open(styled, width, "light");
      assertThat(browser.errors()).isEmpty();
      assertThat(browser.value("document.documentElement.scrollWidth").getAsInt())
          .isLessThanOrEqualTo(width);
      assertThat(browser.value(OUTSIDE).getAsString()).isEmpty();
    }
  }

  @Test
  void colorsFollowTheColorScheme() {
    browser.open(page, 800, "light");
    String colour = "getComputedStyle(document.querySelector('#along polyline')).stroke";
    String light = browser.value(colour).getAsString();
    browser.colours("dark");
    browser.await("%s !== '%s'".formatted(colour, light));
    assertThat(browser.value("document.querySelectorAll('.chart').length").getAsInt())
        .isEqualTo(CHARTS);
    assertThat(browser.errors()).isEmpty();
  }

  @Test
  void specTextNeverRunsAsScript() {
    Path hostile = folder.resolve("hostile.html");
    new Report(
            Examples.evaluation(ATTACK, ATTACK),
            Optional.empty(),
            new Provenance(ATTACK, ATTACK, Optional.of(ATTACK), Examples.PROVENANCE.when()))
        .write(hostile);
    browser.open(hostile, 800, "light");
    browser.await("document.body.innerText.includes('onerror')");
    assertThat(browser.value("window.attacked === undefined").getAsBoolean()).isTrue();
    assertThat(browser.value("document.querySelectorAll('img').length").getAsInt()).isZero();
    assertThat(browser.errors()).isEmpty();
  }
}
