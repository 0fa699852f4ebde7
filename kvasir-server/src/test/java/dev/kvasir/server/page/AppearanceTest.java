package dev.kvasir.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Layout, contrast and accessibility at all widths and colours; screenshots go to target/page. */
class AppearanceTest {
  @RegisterExtension static final BrowserExtension browser = new BrowserExtension();

  private static final String LONG =
      """
      Mead is *older than the plough*: honey, water and time. Three things decide what it becomes.

      ## What goes in

      | honey | character | share |
      |:------|:----------|------:|
      | heather | bitter, **thick** | 40 % |
      | linden | mint, light | 35 % |
      | buckwheat | malt, dark | 25 % |

      1. Warm the water, do not boil it.
         - A boil drives the scent out.
         - See [the older recipes](https://example.org/mead).
      2. Stir in the honey, and wait.

      > Kvasir was so wise that no one asked him a thing he had no answer to.

      ```java
      double alcohol(double before, double after) {
        return (before - after) * 131.25; // a rule of thumb that serves for most meads of usual strength
      }
      ```

      So `alcohol(1.1, 1.01)` is close to 12. AVeryLongWordWithoutAnyPlaceToBreakItAtAllWhichMustNotPushThePageWider.

      ---

      That is all.
      """;

  private static void converse() {
    browser
        .server()
        .reply(
            StubResponse.chat(LONG)
                .after(StubResponse.data(StubResponse.delta("reasoning_content", "Mead."))));
    browser
        .server()
        .reply(StubResponse.chat("Some weeks, ", "and better a year.").fetchedFrom("redis", 12.44));
    browser
        .server()
        .reply(StubResponse.refusal(429, "All places are taken.").with("Retry-After", "3600"));
    browser.open();
    for (String message :
        new String[] {"How is mead made?", "How long does it take?", "And where can I taste it?"}) {
      browser.say(message);
      browser.awaitEnd();
    }
    browser
        .server()
        .setState(StubStates.holding(browser.page().value("location.hash.slice(1)").getAsString()));
    browser.page().await("document.querySelectorAll('.held > li').length === 3");
  }

  private static void photograph(String name) throws IOException {
    browser.page().photograph(Path.of("target", "page", name + ".png"));
  }

  @ParameterizedTest(name = "{0} px, {1}")
  @CsvSource({"320, light", "320, dark", "800, light", "800, dark", "1600, light", "1600, dark"})
  void nothingIsWiderThanTheWindowAndAllTextCanBeRead(int width, String scheme) throws IOException {
    browser.page().size(width, 900);
    browser.page().colours(scheme);
    browser.open();
    holds("empty", width, scheme);
    converse();
    holds("end", width, scheme);
    browser.page().value("document.getElementById('transcript').scrollTop = 0");
    browser.page().value("document.querySelector('.reasoning').open = true");
    holds("long", width, scheme);
    if (!browser.page().isShown("#memory-body")) {
      browser.page().click("#fold-memory");
      holds("memory", width, scheme);
      browser.page().click("#fold-memory");
    }
    if (width == 1600) {
      browser.page().value("document.getElementById('memory-body').scrollTop = 400");
      holds("store", width, scheme);
    }
    browser.page().click("#open-settings");
    holds("settings", width, scheme);
  }

  private static void holds(String scene, int width, String scheme) throws IOException {
    photograph("%s-%d-%s".formatted(scene, width, scheme));
    assertThat(browser.page().value("document.documentElement.scrollWidth").getAsInt())
        .isLessThanOrEqualTo(width);
    assertThat(browser.page().value(OUTSIDE).getAsString()).isEmpty();
    assertThat(browser.page().value(FAINT).getAsString()).isEmpty();
  }

  /** Elements that exceed the window, except in their own scroll container. */
  private static final String OUTSIDE =
      """
      [...document.querySelectorAll('main *, aside *')]
        .filter(one => one.checkVisibility() && !one.closest('pre, .table, .unseen'))
        .filter(one => one.getBoundingClientRect().right > innerWidth + 1)
        .map(one => one.outerHTML.slice(0, 80)).join('; ')
      """;

  /** Texts with a contrast below 4.5. A canvas resolves the colours. */
  private static final String FAINT =
      """
      (() => {
        const pixel = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
        const rgba = colour => {
          pixel.clearRect(0, 0, 1, 1);
          pixel.fillStyle = colour;
          pixel.fillRect(0, 0, 1, 1);
          return pixel.getImageData(0, 0, 1, 1).data;
        };
        const light = ([r, g, b]) => [r, g, b]
          .map(x => x / 255).map(x => (x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4))
          .reduce((sum, x, i) => sum + x * [.2126, .7152, .0722][i], 0);
        const ground = one => {
          for (let at = one; at; at = at.parentElement) {
            const found = rgba(getComputedStyle(at).backgroundColor);
            if (found[3] === 255) return found;
          }
          return [255, 255, 255];
        };
        const contrast = (one, style) => {
          const [a, b] = [light(rgba(style.color)), light(ground(one))].sort((x, y) => y - x);
          return (a + .05) / (b + .05);
        };
        const told = (one, style) => {
          const found = contrast(one, style);
          return found < 4.5 ? [`${found.toFixed(2)} ${one.className} ${one.textContent.slice(0, 30)}`] : [];
        };
        const hasText = one => [...one.childNodes].some(x => x.nodeType === 3 && x.data.trim());
        return [...document.querySelectorAll('body *')]
          .filter(one => one.checkVisibility() && !one.closest('.unseen'))
          .flatMap(one => [
            ...(hasText(one) ? told(one, getComputedStyle(one)) : []),
            ...(one.placeholder ? told(one, getComputedStyle(one, '::placeholder')) : []),
          ]).join('; ');
      })()
      """;

  @ParameterizedTest
  @ValueSource(ints = {320, 800, 1600})
  void anAnswerThatComesIsSeen(int width) throws IOException {
    browser.page().size(width, 900);
    browser.server().hold();
    browser
        .server()
        .reply(StubResponse.chat("**Mead** is", " honey").after(": reading 1024/8192\n\n"));
    browser.open();
    browser.say("How is mead made?");
    browser.server().release(1);
    browser.page().awaitText(".answer", "Prefilling 1,024");
    holds("reading", width, "light");
    browser.server().release(1);
    browser.page().awaitText(".answer > .prose", "Mead is");
    holds("streaming", width, "light");
  }

  @ParameterizedTest
  @ValueSource(ints = {320, 1600})
  void aModelOfStoriesLooksLikeOne(int width) throws IOException {
    browser.page().size(width, 900);
    browser.server().setState(StubStates.STORIES);
    browser.server().reply(StubResponse.text(" lived in a wood.\n\nOne day it met a bee."));
    browser.open();
    holds("stories-empty", width, "light");
    browser.say("Once upon a time there was a fox who");
    browser.awaitEnd();
    holds("stories", width, "light");
  }

  private static final Set<String> CONTROLS =
      Set.of(
          "button",
          "link",
          "textbox",
          "combobox",
          "spinbutton",
          "meter",
          "progressbar",
          "image",
          "dialog",
          "navigation",
          "complementary",
          "region",
          "list",
          "DisclosureTriangle");

  @ParameterizedTest
  @ValueSource(ints = {320, 1600})
  void everyControlHasAName(int width) {
    browser.page().size(width, 900);
    converse();
    browser.page().click(".turn:first-child [aria-label='Edit and ask again']");
    allHaveNames();
    browser.page().press("Escape");
    browser.page().click("#open-settings");
    allHaveNames();
  }

  private static void allHaveNames() {
    assertThat(browser.page().accessibles())
        .filteredOn(one -> CONTROLS.contains(one.role()) && !one.role().equals("list"))
        .isNotEmpty()
        .allMatch(one -> !one.name().isBlank(), "has a name");
  }

  @Test
  void aKeySwitchesColoursRegardlessOfTheSystem() {
    browser.page().colours("dark");
    browser.open();
    String ground = "getComputedStyle(document.body).backgroundColor";
    String dark = browser.page().value(ground).getAsString();
    browser.page().click("#theme");
    String light = browser.page().value(ground).getAsString();
    assertThat(light).isNotEqualTo(dark);
    browser.page().reload();
    assertThat(browser.page().value(ground).getAsString()).isEqualTo(light);
    browser.page().click("#theme");
    assertThat(browser.page().value(ground).getAsString()).isEqualTo(dark);
  }

  @Test
  void focusIsSeenOnEveryControl() {
    browser.open();
    browser.say("How is mead made?");
    browser.awaitEnd();
    for (int i = 0; i < 20; i++) {
      browser.page().press("Tab");
      assertThat(browser.page().value(FOCUS).getAsString()).isEmpty();
    }
  }

  /** Focused elements without a visible focus; that of the message field is on its box. */
  private static final String FOCUS =
      """
      (() => {
        const one = document.activeElement;
        const shown = one.closest('.composer-box') && one.tagName === 'TEXTAREA'
          ? getComputedStyle(one.parentNode).boxShadow !== 'none'
          : getComputedStyle(one).outlineStyle === 'solid';
        return one === document.body || shown ? '' : one.outerHTML;
      })()
      """;

  @Test
  void inNarrowWindowsTheListIsADrawer() throws IOException {
    browser.page().size(320, 700);
    converse();
    assertThat(browser.page().isShown("#memory-body")).isFalse();
    browser.page().click("#open-shelf");
    browser.page().await("getComputedStyle(document.getElementById('shelf')).translate === '0px'");
    photograph("drawer-320-light");
    browser.page().press("Escape");
    assertThat(browser.page().value("document.activeElement.id").getAsString())
        .isEqualTo("open-shelf");
    browser.page().click("#open-shelf");
    browser.page().click("#new-conversation");
    assertThat(browser.page().count(".turn")).isZero();
  }

  @Test
  void theCollapsedPanelIsANarrowBar() throws IOException {
    converse();
    browser.page().click("#fold-memory");
    photograph("folded-1280-light");
    assertThat(browser.page().value("document.getElementById('memory').offsetWidth").getAsInt())
        .isLessThan(60);
    assertThat(browser.page().text("#fold-memory")).contains("768 MiB of 2 GiB");
  }

  @Test
  void theKeyDialogIsCentered() throws IOException {
    browser.server().wantKey("mead");
    browser.page().open(browser.server().address());
    browser.page().await("document.getElementById('key-dialog').open");
    photograph("key-1280-light");
    allHaveNames();
  }

  @Test
  void aLongListScrollsIndependently() throws IOException {
    browser.open();
    browser.page().value(MANY);
    browser.page().reload();
    browser.page().await("document.querySelectorAll('.line').length === 60");
    photograph("many-1280-light");
    assertThat(browser.page().value("document.documentElement.scrollHeight").getAsInt())
        .isLessThanOrEqualTo(900);
  }

  /** Sixty conversations from an earlier visit. */
  private static final String MANY =
      """
      for (let i = 0; i < 60; i++) {
        const turns = [{ role: 'user', content: 'x', state: 'done' }];
        const title = 'Of things that are many, number ' + i;
        const one = { id: 'c' + i, title, updated: i, settings: {}, turns };
        localStorage.setItem('kvasir.conversation.c' + i, JSON.stringify(one));
      }
      """;

  @Test
  void nothingMovesWithReducedMotion() {
    browser.page().media("prefers-reduced-motion", "reduce");
    browser.server().hold();
    browser.open();
    browser.say("How is mead made?");
    browser.page().awaitText(".answer", "Waiting");
    assertThat(
            browser
                .page()
                .value("getComputedStyle(document.querySelector('.streaming .rune')).animationName")
                .getAsString())
        .isEqualTo("none");
  }
}
