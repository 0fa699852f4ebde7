package dev.kvasir.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Saving, renaming and deleting conversations. */
class ConversationsTest {
  @RegisterExtension static final BrowserExtension browser = new BrowserExtension();

  private static void converse(String message) {
    browser.page().click("#new-conversation");
    browser.say(message);
    browser.awaitEnd();
  }

  private static String titles() {
    return browser
        .page()
        .value("[...document.querySelectorAll('.line-title')].map(x => x.textContent).join()")
        .getAsString();
  }

  @Test
  void conversationsSurviveAReload() {
    browser.open();
    converse("First");
    converse("Second");
    browser.page().reload();
    browser.page().awaitText("#title", "Second");
    assertThat(titles()).isEqualTo("Second,First");
    assertThat(browser.page().text(".answer > .prose")).isEqualTo("Hello.");
    browser.page().click(".line:last-child .line-open");
    assertThat(browser.page().text(".said")).isEqualTo("First");
  }

  @Test
  void anAnswerThatAReloadBrokeOffIsShownAsStopped() {
    browser.server().hold();
    browser.server().reply(StubResponse.chat("One, ", "two."));
    browser.open();
    browser.say("Count");
    browser.server().release(1);
    browser.page().awaitText(".answer > .prose", "One,");
    browser.page().reload();
    browser.page().awaitText(".answer > .prose", "One,");
    assertThat(browser.page().text(".ending")).isEqualTo("Stopped.");
    assertThat(browser.page().isShown("#stop")).isFalse();
  }

  @Test
  void backNavigatesToTheLastConversation() {
    browser.open();
    converse("First");
    converse("Second");
    browser.page().value("history.go(-2)");
    browser.page().awaitText("#title", "First");
    assertThat(browser.page().text(".said")).isEqualTo("First");
  }

  @Test
  void aConversationIsRenamed() {
    browser.open();
    converse("First");
    browser.page().click(".line-open");
    browser.page().value("document.querySelector('.line-open').focus()");
    browser.page().press("F2");
    browser.page().fill(".line-name", "Of mead");
    browser.page().press("Enter");
    assertThat(titles()).isEqualTo("Of mead");
    assertThat(browser.page().text("#title")).isEqualTo("Of mead");
    browser.page().reload();
    browser.page().awaitText("#title", "Of mead");
  }

  @Test
  void deletingAConversationNotifiesTheServer() throws InterruptedException {
    browser.open();
    converse("First");
    converse("Second");
    String id = browser.page().value("location.hash.slice(1)").getAsString();
    browser.page().value("document.querySelector('.line-open').focus()");
    browser.page().press("Delete");
    assertThat(browser.page().text("#delete-dialog")).contains("“Second”");
    browser.page().click("#delete-dialog [value=delete]");
    assertThat(browser.server().awaitDeleted()).isEqualTo(id);
    assertThat(titles()).isEqualTo("First");
    assertThat(browser.page().count(".turn")).isZero();
    browser.page().reload();
    browser.page().awaitText(".line-title", "First");
    assertThat(titles()).isEqualTo("First");
  }

  @Test
  void deletingNeedsAConfirmation() {
    browser.open();
    converse("First");
    browser.page().click(".line-open");
    browser.page().click("[aria-label='Delete First']");
    browser.page().press("Escape");
    assertThat(titles()).isEqualTo("First");
    browser.page().reload();
    browser.page().awaitText(".line-title", "First");
  }

  @Test
  void arrowsGoThroughTheList() {
    browser.open();
    converse("First");
    converse("Second");
    converse("Third");
    browser.page().value("document.querySelector('.line-open').focus()");
    browser.page().press("ArrowDown");
    browser.page().press("ArrowDown");
    browser.page().press("ArrowUp");
    browser.page().press("Enter");
    browser.page().awaitText("#title", "Second");
  }

  @Test
  void anUnsentDraftStaysInItsConversation() {
    browser.open();
    converse("First");
    browser.page().click("#message");
    browser.page().type("half a thou");
    browser.page().click("#new-conversation");
    String written = "document.getElementById('message').value";
    assertThat(browser.page().value(written).getAsString()).isEmpty();
    browser.page().click(".line-open");
    assertThat(browser.page().value(written).getAsString()).isEqualTo("half a thou");
  }
}
