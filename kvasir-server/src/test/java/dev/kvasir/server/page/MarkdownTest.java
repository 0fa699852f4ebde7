package dev.kvasir.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rendering of Markdown in responses. */
class MarkdownTest {
  @RegisterExtension static final BrowserExtension browser = new BrowserExtension();

  /** Renders as the page does, and returns the resulting markup. */
  private static final String RENDER =
      """
      import('/page/markdown.js').then(({ MarkdownView }) => {
        const view = new MarkdownView(document.createElement('div'));
        view.show(%s);
        return view.place.innerHTML;
      })
      """;

  @BeforeEach
  void open() {
    browser.open();
  }

  private static String rendered(String markdown) {
    return browser.page().value(RENDER.formatted(BrowserPage.quoted(markdown))).getAsString();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "**bold** and *thin* | <strong>bold</strong> and <em>thin</em>",
        "***both*** | <strong><em>both</em></strong>",
        "*a **b** c* | <em>a <strong>b</strong> c</em>",
        "__bold__ and _thin_ | <strong>bold</strong> and <em>thin</em>",
        "snake_case_name stays | snake_case_name stays",
        "2 * 3 * 4 | 2 * 3 * 4",
        "**never closed | **never closed",
        "~~gone~~ | <del>gone</del>",
        "`a *b* <c>` | <code>a *b* &lt;c&gt;</code>",
        "``a ` b`` | <code>a ` b</code>",
        "a ` alone | a ` alone",
        "\\*no\\* | *no*",
        "[a *b*](javascript:alert(1)) | [a <em>b</em>](javascript:alert(1))",
        "![x](data:text/html;base64,AAAA) | ![x](data:text/html;base64,AAAA)",
        "[x](/relative) | [x](/relative)",
        "[open | [open",
      })
  void linesAreRead(String markdown, String markup) {
    assertThat(rendered(markdown)).isEqualTo("<p>%s</p>".formatted(markup));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[a *b*](https://example.org/x_(y)) | https://example.org/x_(y) | a b",
        "see https://example.org/a_b. Then | https://example.org/a_b | https://example.org/a_b",
        "<http://example.org/?q=1&r=2> | http://example.org/?q=1&r=2 | http://example.org/?q=1&r=2",
        "![a view](https://example.org/v.png) | https://example.org/v.png | a view",
      })
  void linksGoElsewhereInATabOfTheirOwn(String markdown, String address, String label) {
    JsonElement found =
        browser
            .page()
            .value(
                RENDER
                    .formatted(BrowserPage.quoted(markdown))
                    .replace(
                        "return view.place.innerHTML",
                        "const a = view.place.querySelector('a');"
                            + "return [a.getAttribute('href'), a.rel, a.target, a.textContent].join(' | ')"));
    assertThat(found.getAsString())
        .isEqualTo("%s | noopener noreferrer | _blank | %s".formatted(address, label));
  }

  @Test
  void listsMayBeNested() {
    assertThat(rendered("- one\n  - inner *x*\n  - more\n- two\n\n3. three\n4. four"))
        .isEqualTo(
            "<ul><li>one<ul><li>inner <em>x</em></li><li>more</li></ul></li><li>two</li></ul>"
                + "<ol start=\"3\"><li>three</li><li>four</li></ol>");
  }

  @Test
  void anItemHoldsParagraphsAndCode() {
    assertThat(rendered("1. one\n\n   more\n\n   ```java\n   int x;\n     y\n   ```\n\n2. two"))
        .contains(
            "<ol><li><p>one</p><p>more</p><figure", "int x;\n  y</code>", "<li><p>two</p></li>");
  }

  @Test
  void headingsRulesAndQuotesAreRendered() {
    assertThat(rendered("# One\ntext\n### Three #\n\n---\n\n> said *who*\n> - so\n"))
        .isEqualTo(
            "<h3 class=\"level-1\">One</h3><p>text</p><h5 class=\"level-3\">Three</h5><hr>"
                + "<blockquote><p>said <em>who</em></p><ul><li>so</li></ul></blockquote>");
  }

  @Test
  void tablesKeepTheirColumns() {
    assertThat(rendered("| a | b |\n|:--|--:|\n| `x|y` | 1 \\| 2 |\n| only |"))
        .contains(
            "<thead><tr><th scope=\"col\" style=\"text-align: left;\">a</th>",
            "<td style=\"text-align: left;\"><code>x|y</code></td>",
            "<td style=\"text-align: right;\">1 | 2</td>",
            "<td style=\"text-align: left;\">only</td><td style=\"text-align: right;\"></td>");
  }

  @Test
  void codeIsTextAndAFenceMayStillBeOpen() {
    assertThat(rendered("```html\n<b>*x*</b>\n\n# no heading"))
        .contains("<span>html</span>", "<code>&lt;b&gt;*x*&lt;/b&gt;\n\n# no heading</code>");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<script>attacked = 1</script>",
        "<img src=x onerror='attacked = 1'>",
        "[x](javascript:attacked=1) [y](JaVaScRiPt:attacked=1) [z]( javascript:attacked=1)",
        "[x](https://a.b\"onmouseover=\"attacked=1)",
        "```\"><script>attacked=1</script>\nx\n```",
        "| <svg onload=attacked=1> |\n|---|\n| <iframe srcdoc='<script>attacked=1</script>'> |",
        "# <style>*{display:none}</style>",
        "<https://a.b/><base href=//evil.example>",
      })
  void hostileMarkupIsText(String hostile) {
    browser.server().reply(StubResponse.chat(hostile + "\n\nThe end."));
    browser.say(hostile);
    browser.awaitEnd();
    assertThat(browser.page().text(".answer > .prose")).contains("The end.");
    assertThat(browser.page().value("window.attacked === undefined").getAsBoolean()).isTrue();
    assertThat(
            browser
                .page()
                .count("#turns :is(script, img, style, iframe, base, svg:not([aria-hidden]))"))
        .isZero();
    assertThat(browser.page().count("#turns a:not([href^='https://'])")).isZero();
    assertThat(browser.page().count("#turns [onmouseover], #turns [onerror], #turns [onload]"))
        .isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ">",
        "- ",
        "**a ",
        "[",
        "`a ``",
        "| ",
        "*a **b ",
        "1. ",
        "- a\n\n",
        "a|\n-|\n",
        "# a "
      })
  void endlessNestingEnds(String piece) {
    assertThat(rendered(piece.repeat(20_000))).isNotEmpty();
  }

  /** A streamed text, cut anywhere, ends as the same nodes as the complete text. */
  @Test
  void aTextThatGrowsEndsAsIfItHadComeAtOnce() {
    String text =
        "# One\n\npara *x*\nmore\n\n- a\n  - b\n\n| a |\n|---|\n| 1 |\n\n```c\nint *x;\n```\n\n> q";
    String grown =
        """
        import('/page/markdown.js').then(({ MarkdownView }) => {
          const text = %s;
          const view = new MarkdownView(document.createElement('div'));
          for (let i = 0; i <= text.length; i++) view.show(text.slice(0, i));
          return view.place.innerHTML;
        })
        """;
    assertThat(browser.page().value(grown.formatted(BrowserPage.quoted(text))).getAsString())
        .isEqualTo(rendered(text));
  }

  @Test
  void finishedBlocksStayWhileTheNextOnesCome() {
    browser.server().hold();
    browser.server().reply(StubResponse.chat("```java\nint x;\n```\n\n", "Then ", "text."));
    browser.say("Code, please");
    browser.server().release(2);
    browser.page().awaitText(".answer > .prose", "Then");
    browser.page().value("document.querySelector('.code').marked = true");
    browser.server().releaseAll();
    browser.awaitEnd();
    assertThat(browser.page().value("document.querySelector('.code').marked").getAsBoolean())
        .isTrue();
    browser.page().click("[aria-label='Copy code']");
    browser.page().await("document.querySelector('[aria-label=Copied]')");
  }
}
