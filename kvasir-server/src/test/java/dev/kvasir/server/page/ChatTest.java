package dev.kvasir.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Asking and being answered. */
class ChatTest {
  @RegisterExtension static final Stage stage = new Stage();

  private static final String LAST_ANSWER = ".turn:last-child.answer";

  @Test
  void anAnswerIsSeenWhileItComes() {
    stage.server().hold();
    stage.server().reply(Reply.chat("One, ", "two, ", "three."));
    stage.open();
    stage.say("Count to three");
    stage.page().awaitText(LAST_ANSWER, "Waiting for the server");
    stage.server().release(2);
    stage.page().awaitText(LAST_ANSWER + " > .prose", "One, two,");
    assertThat(stage.page().text(LAST_ANSWER)).doesNotContain("three");
    assertThat(stage.page().isShown("#stop")).isTrue();
    assertThat(stage.page().text("#announcer")).isEmpty();
    stage.server().releaseAll();
    stage.awaitEnd();
    assertThat(stage.page().text(LAST_ANSWER + " > .prose")).isEqualTo("One, two, three.");
    assertThat(stage.page().text(LAST_ANSWER + " .figures"))
        .isEqualTo("42 tokens · 42.5 tokens/s · 1,024 of 1,100 prompt tokens not read again");
    assertThat(stage.page().text("#announcer")).isEqualTo("One, two, three.");
  }

  @Test
  void aRequestSaysWhatTheServerNeeds() {
    stage.open();
    stage.say("Count to three");
    stage.awaitEnd();
    JsonObject asked = stage.server().asked().getFirst();
    String id = stage.page().value("location.hash.slice(1)").getAsString();
    assertThat(asked)
        .isEqualTo(
            JsonParser.parseString(
                """
                {"model":"kvasir-chat","stream":true,"stream_options":{"include_usage":true},
                 "prompt_cache_key":"%s","messages":[{"role":"user","content":"Count to three"}]}
                """
                    .formatted(id)));
  }

  @Test
  void aPromptsReadingIsSeen() {
    stage.server().hold();
    stage.server().reply(Reply.chat("Read.").after(": reading 1024/8192\n\n"));
    stage.open();
    stage.say("A long text");
    stage.server().release(1);
    stage.page().awaitText(LAST_ANSWER, "Reading 1,024 of 8,192 tokens");
    assertThat(stage.page().value("document.querySelector('progress').position").getAsDouble())
        .isEqualTo(0.125);
    stage.server().releaseAll();
    stage.awaitEnd();
    assertThat(stage.page().isShown("progress")).isFalse();
  }

  @Test
  void escapeStopsAnAnswerAndTheServerIsLeft() throws InterruptedException {
    stage.server().hold();
    stage.server().stayUntilLeft();
    stage.server().reply(Reply.chat("One, ", "two, ".repeat(100_000), "three."));
    stage.open();
    stage.say("Count");
    stage.server().release(1);
    stage.page().awaitText(LAST_ANSWER + " > .prose", "One,");
    stage.page().press("Escape");
    stage.page().awaitText(LAST_ANSWER + " .ending", "Stopped.");
    assertThat(stage.page().isShown("#stop")).isFalse();
    stage.server().releaseAll();
    assertThat(stage.server().awaitBrokenOff()).isEqualTo("/v1/chat/completions");
    assertThat(stage.page().text(LAST_ANSWER + " > .prose")).isEqualTo("One,");
  }

  @Test
  void theButtonStopsTooAndTheNextQuestionKnowsWhatWasSaid() {
    stage.server().hold();
    stage.server().reply(Reply.chat("One, ", "two."));
    stage.open();
    stage.say("Count");
    stage.server().release(1);
    stage.page().awaitText(LAST_ANSWER + " > .prose", "One,");
    stage.page().click("#stop");
    stage.page().awaitText(LAST_ANSWER + " .ending", "Stopped.");
    stage.server().releaseAll();
    stage.say("Go on");
    stage.awaitEnd();
    assertThat(stage.server().asked().get(1).getAsJsonArray("messages"))
        .hasToString(
            "[{\"role\":\"user\",\"content\":\"Count\"},"
                + "{\"role\":\"assistant\",\"content\":\"One, \"},"
                + "{\"role\":\"user\",\"content\":\"Go on\"}]");
  }

  @Test
  void shiftAndEnterBreakTheLine() {
    stage.open();
    stage.page().click("#message");
    stage.page().type("one");
    stage.page().pressWithShift("Enter");
    stage.page().type("two");
    assertThat(stage.server().asked()).isEmpty();
    stage.page().press("Enter");
    stage.awaitEnd();
    assertThat(stage.page().text(".said")).isEqualTo("one\ntwo");
  }

  @Test
  void aMessageThatIsEditedIsAskedAgainAndWhatFollowedIsGone() {
    stage.server().reply(Reply.chat("Oslo."));
    stage.server().reply(Reply.chat("You are welcome."));
    stage.server().reply(Reply.chat("Stockholm."));
    stage.open();
    stage.say("Capital of Norway?");
    stage.awaitEnd();
    stage.say("Thanks");
    stage.page().awaitText(LAST_ANSWER, "welcome");
    stage.awaitEnd();
    stage.page().click(".turn:first-child [aria-label='Edit and ask again']");
    stage.page().fill(".edit textarea", "Capital of Sweden?");
    stage.page().press("Enter");
    stage.page().awaitText(LAST_ANSWER, "Stockholm.");
    assertThat(stage.page().count(".turn")).isEqualTo(2);
    assertThat(stage.page().text(".said")).isEqualTo("Capital of Sweden?");
    assertThat(stage.server().asked().get(2).getAsJsonArray("messages")).hasSize(1);
  }

  @Test
  void anEditThatIsLeftByEscapeChangesNothing() {
    stage.open();
    stage.say("Capital of Norway?");
    stage.awaitEnd();
    stage.page().click("[aria-label='Edit and ask again']");
    stage.page().fill(".edit textarea", "Never mind");
    stage.page().press("Escape");
    assertThat(stage.page().count(".edit")).isZero();
    assertThat(stage.page().text(".said")).isEqualTo("Capital of Norway?");
  }

  @Test
  void anAnswerIsTriedAgain() {
    stage.server().reply(Reply.chat("Bergen."));
    stage.server().reply(Reply.chat("Oslo."));
    stage.open();
    stage.say("Capital of Norway?");
    stage.awaitEnd();
    stage.page().click(LAST_ANSWER + " [aria-label='Try again']");
    stage.page().awaitText(LAST_ANSWER + " > .prose", "Oslo.");
    assertThat(stage.page().count(".turn")).isEqualTo(2);
    assertThat(stage.server().asked().get(1)).isEqualTo(stage.server().asked().get(0));
  }

  @Test
  void reasoningIsFoldedAway() {
    stage
        .server()
        .reply(
            Reply.chat("Four.").after(Reply.data(Reply.delta("reasoning_content", "2 and 2..."))));
    stage.open();
    stage.say("2 + 2?");
    stage.awaitEnd();
    assertThat(stage.page().text(LAST_ANSWER + " summary")).isEqualTo("Thoughts");
    assertThat(stage.page().isShown(".reasoning .prose")).isFalse();
    stage.page().click(".reasoning summary");
    assertThat(stage.page().text(".reasoning .prose")).isEqualTo("2 and 2...");
  }

  @Test
  void anErrorInTheMidstKeepsWhatCame() {
    stage.server().reply(Reply.chat("One, ", "two").failingAfter(1, "Memory is used up."));
    stage.open();
    stage.say("Count");
    stage.awaitEnd();
    assertThat(stage.page().text(LAST_ANSWER + " > .prose")).isEqualTo("One,");
    assertThat(stage.page().text(LAST_ANSWER + " .error")).isEqualTo("Memory is used up.");
  }

  @Test
  void aStreamThatEndsTooEarlyIsAnError() {
    stage.server().reply(Reply.chat("One, ", "two").endingAfter(1));
    stage.open();
    stage.say("Count");
    stage.awaitEnd();
    assertThat(stage.page().text(LAST_ANSWER + " .error"))
        .isEqualTo("The answer broke off before its end.");
  }

  @Test
  void aBusyServerSaysWhenToTryAgain() {
    stage.server().reply(Reply.refusal(429, "All places are taken.").with("Retry-After", "3600"));
    stage.open();
    stage.say("Count");
    stage.awaitEnd();
    assertThat(stage.page().text(LAST_ANSWER + " .error"))
        .isEqualTo("All places are taken. Try again in 60 minutes.");
    stage.page().click(LAST_ANSWER + " [aria-label='Try again']");
    stage.page().awaitText(LAST_ANSWER + " > .prose", "Hello.");
    assertThat(stage.page().isShown(".error")).isFalse();
  }

  @Test
  void aServerThatIsGoneIsSaidInPlaceAndInThePanel() {
    stage.open();
    stage.server().close();
    stage.say("Count");
    stage.awaitEnd();
    assertThat(stage.page().text(LAST_ANSWER + " .error"))
        .isEqualTo("The server cannot be reached.");
    stage.page().awaitText("#memory-body", "The server cannot be reached.");
  }

  @Test
  void settingsGoWithTheConversation() {
    stage.open();
    stage.page().click("#open-settings");
    stage.page().fill("[name=system]", "Be brief.");
    stage.page().fill("[name=temperature]", "0.5");
    stage.page().fill("[name=maxTokens]", "64");
    stage.page().value("document.querySelector('[name=kv]').value = 'fp16'");
    stage.page().click("#settings-dialog [value=keep]");
    stage.say("Count");
    stage.awaitEnd();
    JsonObject asked = stage.server().asked().getFirst();
    assertThat(asked.get("temperature").getAsDouble()).isEqualTo(0.5);
    assertThat(asked.get("max_tokens").getAsInt()).isEqualTo(64);
    assertThat(asked.get("kv").getAsString()).isEqualTo("fp16");
    assertThat(asked.getAsJsonArray("messages").get(0))
        .hasToString("{\"role\":\"system\",\"content\":\"Be brief.\"}");
    assertThat(stage.page().text("#kind-in-use")).isEqualTo("cache fp16");
  }

  @Test
  void aModelWithoutAChatContinuesTexts() {
    stage.server().tell(States.STORIES);
    stage.server().reply(Reply.text(" lived in", " a *wood*."));
    stage.server().reply(Reply.text(" It was red."));
    stage.open();
    assertThat(stage.page().text("#continuing")).contains("continues your text");
    stage.say("A fox who");
    stage.awaitEnd();
    assertThat(stage.page().text(LAST_ANSWER + " > .prose").strip())
        .isEqualTo("lived in a *wood*.");
    assertThat(stage.page().text(LAST_ANSWER + " .ending")).contains("limit of tokens");
    stage.page().click("[aria-label='Continue']");
    stage.page().awaitText(LAST_ANSWER + " > .prose", "It was red.");
    stage.awaitEnd();
    assertThat(stage.server().paths()).containsOnly("/v1/completions");
    assertThat(stage.server().asked())
        .extracting(asked -> asked.get("prompt").getAsString())
        .containsExactly("A fox who", "A fox who lived in a *wood*.");
  }

  @Test
  void anotherConversationIsReadWhileOneIsAnswered() {
    stage.server().hold();
    stage.server().reply(Reply.chat("One, ", "two."));
    stage.open();
    stage.say("Count");
    stage.server().release(1);
    stage.page().awaitText(LAST_ANSWER + " > .prose", "One,");
    stage.page().click("#new-conversation");
    assertThat(stage.page().count(".turn")).isZero();
    assertThat(stage.page().isShown("#stop")).isFalse();
    assertThat(stage.page().count(".line.running")).isEqualTo(1);
    stage.server().releaseAll();
    stage.page().await("!document.querySelector('.line.running')");
    stage.page().click(".line-open");
    assertThat(stage.page().text(LAST_ANSWER + " > .prose")).isEqualTo("One, two.");
  }
}
