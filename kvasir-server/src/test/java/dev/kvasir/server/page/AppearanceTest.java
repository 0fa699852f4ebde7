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

/** How the page looks and sounds, in all widths and colours; pictures go to target/page. */
class AppearanceTest {
  @RegisterExtension static final Stage stage = new Stage();

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
    stage
        .server()
        .reply(Reply.chat(LONG).after(Reply.data(Reply.delta("reasoning_content", "Mead."))));
    stage
        .server()
        .reply(Reply.chat("Some weeks, ", "and better a year.").fetchedFrom("redis", 12.44));
    stage.server().reply(Reply.refusal(429, "All places are taken.").with("Retry-After", "3600"));
    stage.open();
    for (String message :
        new String[] {"How is mead made?", "How long does it take?", "And where can I taste it?"}) {
      stage.say(message);
      stage.awaitEnd();
    }
    stage.server().tell(States.holding(stage.page().value("location.hash.slice(1)").getAsString()));
    stage.page().await("document.querySelectorAll('.held > li').length === 3");
  }

  private static void photograph(String name) throws IOException {
    stage.page().photograph(Path.of("target", "page", name + ".png"));
  }

  @ParameterizedTest(name = "{0} px, {1}")
  @CsvSource({"320, light", "320, dark", "800, light", "800, dark", "1600, light", "1600, dark"})
  void nothingIsWiderThanTheWindowAndAllTextCanBeRead(int width, String scheme) throws IOException {
    stage.page().size(width, 900);
    stage.page().colours(scheme);
    stage.open();
    holds("empty", width, scheme);
    converse();
    holds("end", width, scheme);
    stage.page().value("document.getElementById('transcript').scrollTop = 0");
    stage.page().value("document.querySelector('.reasoning').open = true");
    holds("long", width, scheme);
    if (!stage.page().isShown("#memory-body")) {
      stage.page().click("#fold-memory");
      holds("memory", width, scheme);
      stage.page().click("#fold-memory");
    }
    if (width == 1600) {
      stage.page().value("document.getElementById('memory-body').scrollTop = 400");
      holds("store", width, scheme);
    }
    stage.page().click("#open-settings");
    holds("settings", width, scheme);
  }

  private static void holds(String scene, int width, String scheme) throws IOException {
    photograph("%s-%d-%s".formatted(scene, width, scheme));
    assertThat(stage.page().value("document.documentElement.scrollWidth").getAsInt())
        .isLessThanOrEqualTo(width);
    assertThat(stage.page().value(OUTSIDE).getAsString()).isEmpty();
    assertThat(stage.page().value(FAINT).getAsString()).isEmpty();
  }

  /** Elements that reach beyond the window, but for what scrolls in a box of its own. */
  private static final String OUTSIDE =
      """
      [...document.querySelectorAll('main *, aside *')]
        .filter(one => one.checkVisibility() && !one.closest('pre, .table, .unseen'))
        .filter(one => one.getBoundingClientRect().right > innerWidth + 1)
        .map(one => one.outerHTML.slice(0, 80)).join('; ')
      """;

  /** Texts with a contrast below 4.5 to what they stand on. Colours are asked of a canvas. */
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
    stage.page().size(width, 900);
    stage.server().hold();
    stage.server().reply(Reply.chat("**Mead** is", " honey").after(": reading 1024/8192\n\n"));
    stage.open();
    stage.say("How is mead made?");
    stage.server().release(1);
    stage.page().awaitText(".answer", "Reading 1,024");
    holds("reading", width, "light");
    stage.server().release(1);
    stage.page().awaitText(".answer > .prose", "Mead is");
    holds("streaming", width, "light");
  }

  @ParameterizedTest
  @ValueSource(ints = {320, 1600})
  void aModelOfStoriesLooksLikeOne(int width) throws IOException {
    stage.page().size(width, 900);
    stage.server().tell(States.STORIES);
    stage.server().reply(Reply.text(" lived in a wood.\n\nOne day it met a bee."));
    stage.open();
    holds("stories-empty", width, "light");
    stage.say("Once upon a time there was a fox who");
    stage.awaitEnd();
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
    stage.page().size(width, 900);
    converse();
    stage.page().click(".turn:first-child [aria-label='Edit and ask again']");
    allHaveNames();
    stage.page().press("Escape");
    stage.page().click("#open-settings");
    allHaveNames();
  }

  private static void allHaveNames() {
    assertThat(stage.page().accessibles())
        .filteredOn(one -> CONTROLS.contains(one.role()) && !one.role().equals("list"))
        .isNotEmpty()
        .allMatch(one -> !one.name().isBlank(), "has a name");
  }

  @Test
  void aKeySwitchesColoursWhateverTheSystemSays() {
    stage.page().colours("dark");
    stage.open();
    String ground = "getComputedStyle(document.body).backgroundColor";
    String dark = stage.page().value(ground).getAsString();
    stage.page().click("#theme");
    String light = stage.page().value(ground).getAsString();
    assertThat(light).isNotEqualTo(dark);
    stage.page().reload();
    assertThat(stage.page().value(ground).getAsString()).isEqualTo(light);
    stage.page().click("#theme");
    assertThat(stage.page().value(ground).getAsString()).isEqualTo(dark);
  }

  @Test
  void focusIsSeenOnEveryControl() {
    stage.open();
    stage.say("How is mead made?");
    stage.awaitEnd();
    for (int i = 0; i < 20; i++) {
      stage.page().press("Tab");
      assertThat(stage.page().value(FOCUS).getAsString()).isEmpty();
    }
  }

  /**
   * What has the focus and does not show it; the field for messages has it drawn around its box.
   */
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
    stage.page().size(320, 700);
    converse();
    assertThat(stage.page().isShown("#memory-body")).isFalse();
    stage.page().click("#open-shelf");
    stage.page().await("getComputedStyle(document.getElementById('shelf')).translate === '0px'");
    photograph("drawer-320-light");
    stage.page().press("Escape");
    assertThat(stage.page().value("document.activeElement.id").getAsString())
        .isEqualTo("open-shelf");
    stage.page().click("#open-shelf");
    stage.page().click("#new-conversation");
    assertThat(stage.page().count(".turn")).isZero();
  }

  @Test
  void foldedBesideTheChatThePanelIsASpine() throws IOException {
    converse();
    stage.page().click("#fold-memory");
    photograph("folded-1280-light");
    assertThat(stage.page().value("document.getElementById('memory').offsetWidth").getAsInt())
        .isLessThan(60);
    assertThat(stage.page().text("#fold-memory")).contains("768 MiB of 2 GiB");
  }

  @Test
  void aKeyIsAskedForInTheMiddle() throws IOException {
    stage.server().wantKey("mead");
    stage.page().open(stage.server().address());
    stage.page().await("document.getElementById('key-dialog').open");
    photograph("key-1280-light");
    allHaveNames();
  }

  @Test
  void aLongListScrollsByItself() throws IOException {
    stage.open();
    stage.page().value(MANY);
    stage.page().reload();
    stage.page().await("document.querySelectorAll('.line').length === 60");
    photograph("many-1280-light");
    assertThat(stage.page().value("document.documentElement.scrollHeight").getAsInt())
        .isLessThanOrEqualTo(900);
  }

  /** Sixty conversations, as an earlier visit would have left them. */
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
  void nothingMovesForWhoWantsItStill() {
    stage.page().media("prefers-reduced-motion", "reduce");
    stage.server().hold();
    stage.open();
    stage.say("How is mead made?");
    stage.page().awaitText(".answer", "Waiting");
    assertThat(
            stage
                .page()
                .value("getComputedStyle(document.querySelector('.streaming .rune')).animationName")
                .getAsString())
        .isEqualTo("none");
  }
}
