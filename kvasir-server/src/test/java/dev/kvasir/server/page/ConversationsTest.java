package dev.kvasir.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Conversations that are kept, named and deleted. */
class ConversationsTest {
  @RegisterExtension static final Stage stage = new Stage();

  private static void converse(String message) {
    stage.page().click("#new-conversation");
    stage.say(message);
    stage.awaitEnd();
  }

  private static String titles() {
    return stage
        .page()
        .value("[...document.querySelectorAll('.line-title')].map(x => x.textContent).join()")
        .getAsString();
  }

  @Test
  void conversationsSurviveAReload() {
    stage.open();
    converse("First");
    converse("Second");
    stage.page().reload();
    stage.page().awaitText("#title", "Second");
    assertThat(titles()).isEqualTo("Second,First");
    assertThat(stage.page().text(".answer > .prose")).isEqualTo("Hello.");
    stage.page().click(".line:last-child .line-open");
    assertThat(stage.page().text(".said")).isEqualTo("First");
  }

  @Test
  void anAnswerThatAReloadBrokeOffIsShownAsStopped() {
    stage.server().hold();
    stage.server().reply(Reply.chat("One, ", "two."));
    stage.open();
    stage.say("Count");
    stage.server().release(1);
    stage.page().awaitText(".answer > .prose", "One,");
    stage.page().reload();
    stage.page().awaitText(".answer > .prose", "One,");
    assertThat(stage.page().text(".ending")).isEqualTo("Stopped.");
    assertThat(stage.page().isShown("#stop")).isFalse();
  }

  @Test
  void theWayBackLeadsToTheLastConversation() {
    stage.open();
    converse("First");
    converse("Second");
    stage.page().value("history.go(-2)");
    stage.page().awaitText("#title", "First");
    assertThat(stage.page().text(".said")).isEqualTo("First");
  }

  @Test
  void aConversationIsRenamed() {
    stage.open();
    converse("First");
    stage.page().click(".line-open");
    stage.page().value("document.querySelector('.line-open').focus()");
    stage.page().press("F2");
    stage.page().fill(".line-name", "Of mead");
    stage.page().press("Enter");
    assertThat(titles()).isEqualTo("Of mead");
    assertThat(stage.page().text("#title")).isEqualTo("Of mead");
    stage.page().reload();
    stage.page().awaitText("#title", "Of mead");
  }

  @Test
  void deletingOneTellsTheServer() throws InterruptedException {
    stage.open();
    converse("First");
    converse("Second");
    String id = stage.page().value("location.hash.slice(1)").getAsString();
    stage.page().value("document.querySelector('.line-open').focus()");
    stage.page().press("Delete");
    assertThat(stage.page().text("#delete-dialog")).contains("“Second”");
    stage.page().click("#delete-dialog [value=delete]");
    assertThat(stage.server().awaitDeleted()).isEqualTo(id);
    assertThat(titles()).isEqualTo("First");
    assertThat(stage.page().count(".turn")).isZero();
    stage.page().reload();
    stage.page().awaitText(".line-title", "First");
    assertThat(titles()).isEqualTo("First");
  }

  @Test
  void nothingIsDeletedWithoutAYes() {
    stage.open();
    converse("First");
    stage.page().click(".line-open");
    stage.page().click("[aria-label='Delete First']");
    stage.page().press("Escape");
    assertThat(titles()).isEqualTo("First");
    stage.page().reload();
    stage.page().awaitText(".line-title", "First");
  }

  @Test
  void arrowsGoThroughTheList() {
    stage.open();
    converse("First");
    converse("Second");
    converse("Third");
    stage.page().value("document.querySelector('.line-open').focus()");
    stage.page().press("ArrowDown");
    stage.page().press("ArrowDown");
    stage.page().press("ArrowUp");
    stage.page().press("Enter");
    stage.page().awaitText("#title", "Second");
  }

  @Test
  void whatIsWrittenAndNotSentWaitsInItsConversation() {
    stage.open();
    converse("First");
    stage.page().click("#message");
    stage.page().type("half a thou");
    stage.page().click("#new-conversation");
    String written = "document.getElementById('message').value";
    assertThat(stage.page().value(written).getAsString()).isEmpty();
    stage.page().click(".line-open");
    assertThat(stage.page().value(written).getAsString()).isEqualTo("half a thou");
  }
}
