package dev.kvasir.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Servers that require a key. */
class KeyTest {
  @RegisterExtension static final BrowserExtension browser = new BrowserExtension();

  @BeforeEach
  void open() {
    browser.server().wantKey("mead");
    browser.page().open(browser.server().address());
    browser.page().await("document.getElementById('key-dialog').open");
  }

  private static void give(String key) {
    browser.page().fill("[name=key]", key);
    browser.page().press("Enter");
  }

  @Test
  void aKeyIsRequestedUntilItIsValidAndStoredForTheTab() {
    give("ale");
    browser.page().awaitText("#key-hint", "rejected this key");
    give("mead");
    browser.page().awaitText("#memory-body", "768 MiB of 2 GiB");
    browser.say("Count");
    browser.awaitEnd();
    assertThat(browser.page().text(".answer > .prose")).isEqualTo("Hello.");
    browser.page().reload();
    browser.page().awaitText("#memory-body", "768 MiB of 2 GiB");
    assertThat(browser.page().isShown("#key-dialog")).isFalse();
    assertThat(browser.page().value("JSON.stringify(localStorage)").getAsString())
        .doesNotContain("mead");
  }

  @Test
  void withoutAKeyTheChatShowsAnErrorAndTheNextMessageAsksAgain() {
    browser.page().press("Escape");
    browser.page().awaitText("#memory-body", "needs a key");
    browser.say("Count");
    browser.page().await("document.getElementById('key-dialog').open");
    browser.page().click("#key-dialog [data-cancel]");
    browser.page().awaitText(".answer .error", "needs a key");
    browser.page().click("[aria-label='Try again']");
    browser.page().await("document.getElementById('key-dialog').open");
    give("mead");
    browser.page().awaitText(".answer > .prose", "Hello.");
    browser.page().awaitText("#memory-body", "768 MiB of 2 GiB");
  }
}
