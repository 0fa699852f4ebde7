package dev.kvasir.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The memory panel. */
class MemoryPanelTest {
  @RegisterExtension static final BrowserExtension browser = new BrowserExtension();

  /** Opens a conversation that the server has in memory. */
  private static String openCachedConversation() {
    browser.open();
    browser.say("Tell me of mead");
    browser.awaitEnd();
    String id = browser.page().value("location.hash.slice(1)").getAsString();
    browser.server().setState(StubStates.holding(id));
    browser.page().await("document.querySelectorAll('.held > li').length === 3");
    return id;
  }

  @Test
  void figuresFollowTheState() {
    browser.open();
    assertThat(browser.page().text("#memory-body"))
        .contains("768 MiB of 2 GiB; 256 MiB of it", "123\n", "7 of 10 prompts", "123,456");
    browser
        .server()
        .setState(
            StubStates.EMPTY.replace("\"queued\":2", "\"queued\":17").replace("123.4", "7.25"));
    browser.page().awaitText("#memory-body", "17");
    assertThat(browser.page().text("#memory-body")).contains("7.25");
  }

  @Test
  void figuresFollowTheStateWhereThereIsNoStreamOfThem() {
    browser.server().streamNoEvents();
    browser.open();
    browser.server().setState(StubStates.EMPTY.replace("\"queued\":2", "\"queued\":17"));
    browser.page().awaitText("#memory-body", "17");
  }

  @Test
  void theOpenConversationIsDrawnByBytesWithFigures() {
    openCachedConversation();
    assertThat(browser.page().text("#memory-body"))
        .contains("5,120", "tokens of 16,384", "3 MiB", "2.4", "20 MiB", "takes 15 % of it");
    assertThat(shares(".strip.tall")).containsExactly(16, 4864, 240);
    assertThat(classes(".strip.tall")).isEqualTo("16 2 16");
    assertThat(
            browser
                .page()
                .value(
                    "[...document.querySelectorAll('.strip.tall .segment')].map(x => x.style.height).join()")
                .getAsString())
        .isEqualTo("100%,14.0625%,100%");
    assertThat(
            browser.page().value("document.querySelector('.strip.tall').ariaLabel").getAsString())
        .isEqualTo(
            "16 tokens at 16 bits, attention sinks; 4,864 tokens at 2.25 bits, quantized pages; "
                + "240 tokens at 16 bits, residual window");
  }

  @Test
  void theLongestPrefixOfAConversationIsShown() {
    String id = openCachedConversation();
    browser.server().setState(StubStates.holdingPrefixes(id));
    browser.page().await("document.querySelectorAll('.held > li').length === 1");
    assertThat(browser.page().text("#memory-body")).contains("5,120").doesNotContain("256\n");
  }

  @Test
  void theOpenConversationSaysWhereItsLastPromptCameFrom() {
    browser.server().reply(StubResponse.chat("One."));
    browser.server().reply(StubResponse.chat("Two.").fetchedFrom("redis", 12.44));
    browser.open();
    assertThat(browser.page().isShown(".origins")).isFalse();
    browser.say("Tell me of mead");
    browser.awaitEnd();
    assertThat(browser.page().text(".origins").replaceAll("\\s+", " "))
        .isEqualTo("Memory 1,024 tokens Prefilled 76 tokens, 38 ms");
    browser.say("And of honey");
    browser.awaitEnd();
    String fetched = "Redis 1,024 tokens, 12.4 ms Prefilled 76 tokens, 38 ms";
    assertThat(browser.page().text(".origins").replaceAll("\\s+", " ")).isEqualTo(fetched);
    browser.page().reload();
    browser.page().awaitText(".origins", "Redis");
    browser.page().click("#new-conversation");
    assertThat(browser.page().isShown(".origins")).isFalse();
  }

  @Test
  void aStoreIsShownWithItsTiers() {
    browser.open();
    assertThat(browser.page().isShown(".tiers")).isFalse();
    assertThat(browser.page().text(".shelf-foot"))
        .endsWith("Conversations are saved in this browser.");
    browser.server().setState(StubStates.holding("any"));
    browser.page().awaitText(".tiers", "Disk /var/lib/kvasir/conversations-of-this-machine");
    assertThat(browser.page().text(".tiers"))
        .contains("5 GiB", "120 of 124 blobs found · 8 MiB read · 16 MiB written · 1.5 GiB/s")
        .contains("Redis 10.0.0.7:6379/0", "2 failures · 7 blobs not written in time");
    assertThat(browser.page().text(".shelf-foot")).endsWith("in the server’s store.");
    assertThat(browser.page().text("#memory-body"))
        .contains("12,288", "41.3", "246", "3 of 5 prompts had a stored prefix;")
        .contains("1 faster to prefill than to fetch; 1 damaged and prefilled instead.");
  }

  @Test
  void eachConversationIsABarOfItsBitWidths() {
    openCachedConversation();
    assertThat(browser.page().text(".held")).contains("Tell me of mead", "running", "2.4 bits");
    assertThat(browser.page().text(".held")).contains("Another client", "kept");
    assertThat(browser.page().text(".held")).contains("Unnamed", "waiting");
    assertThat(classes(".held > li:nth-child(2)")).isEqualTo("16 8 4 3 2 1");
    // Segments are proportional to tokens, up to a pixel for separators.
    List<Integer> pixels =
        IntStream.rangeClosed(1, 6)
            .mapToObj(i -> ".held > li:nth-child(2) .segment:nth-child(%d)".formatted(i))
            .map(
                one ->
                    browser.page().value("document.querySelector('%s').offsetWidth".formatted(one)))
            .map(width -> width.getAsInt())
            .toList();
    assertThat(pixels).allMatch(width -> Math.abs(width - pixels.getFirst()) <= 1);
  }

  @Test
  void theLegendHasTheColoursOfTheBarsFromDarkToLight() {
    openCachedConversation();
    for (int width : List.of(16, 8, 4, 3, 2, 1)) {
      assertThat(colour(".legend .width-" + width))
          .isEqualTo(colour(".held .segment.width-" + width));
    }
    for (String scheme : List.of("light", "dark")) {
      browser.page().colours(scheme);
      List<Double> lightness =
          browser.page().value(LIGHTNESS).getAsJsonArray().asList().stream()
              .map(value -> value.getAsDouble())
              .toList();
      assertThat(lightness).hasSize(6).isSorted();
    }
    assertThat(browser.page().text(".legend").replaceAll("\\s+", " "))
        .isEqualTo("16 bits 8 bits 4 bits 3 bits 2 bits 1 bit");
  }

  private static final String LIGHTNESS =
      """
      [...document.querySelectorAll('.legend .swatch')].map(swatch => {
        const [r, g, b] = getComputedStyle(swatch).backgroundColor.match(/[0-9.]+/g).map(Number);
        return .2126 * r ** 2.2 + .7152 * g ** 2.2 + .0722 * b ** 2.2;
      })
      """;

  @ParameterizedTest
  @CsvSource({
    "16, 16",
    "12.5, 16",
    "8.25, 8",
    "5, 4",
    "4.5, 4",
    "3.25, 3",
    "2.75, 3",
    "2.5, 2",
    "2.25, 2",
    "1.03, 1",
    "0.5, 1"
  })
  void bitsHaveTheNearestWidthAndATieIsTheNarrowOne(double bits, int width) {
    browser.open();
    assertThat(
            browser
                .page()
                .value("import('/page/widths.js').then(m => m.widthOf(%s))".formatted(bits))
                .getAsInt())
        .isEqualTo(width);
  }

  @Test
  void aLineOfThePanelOpensItsConversation() {
    openCachedConversation();
    browser.page().click("#new-conversation");
    browser.page().awaitText("#memory-body", "Not in memory");
    browser.page().click(".held-open");
    browser.page().awaitText("#title", "Tell me of mead");
  }

  @Test
  void thePanelFoldsAndStaysFolded() {
    browser.open();
    assertThat(browser.page().isShown("#memory-body")).isTrue();
    browser.page().click("#fold-memory");
    assertThat(browser.page().isShown("#memory-body")).isFalse();
    browser.page().reload();
    browser.page().awaitText("#memory-brief", "768 MiB of 2 GiB");
    assertThat(browser.page().isShown("#memory-body")).isFalse();
  }

  private static List<Integer> shares(String strip) {
    return browser
        .page()
        .value(
            "[...document.querySelectorAll('%s .segment')].map(x => Number(x.style.flexGrow))"
                .formatted(strip))
        .getAsJsonArray()
        .asList()
        .stream()
        .map(value -> value.getAsInt())
        .toList();
  }

  private static String classes(String strip) {
    return browser
        .page()
        .value(
            "[...document.querySelectorAll('%s .segment')].map(x => /width-(\\d+)/.exec(x.className)[1]).join(' ')"
                .formatted(strip))
        .getAsString();
  }

  private static String colour(String selector) {
    return browser
        .page()
        .value("getComputedStyle(document.querySelector('%s')).backgroundColor".formatted(selector))
        .getAsString();
  }
}
