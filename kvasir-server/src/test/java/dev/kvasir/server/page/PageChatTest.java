package dev.kvasir.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Chatting on the page. */
class PageChatTest {
  @RegisterExtension static final BrowserExtension browser = new BrowserExtension();

  private static final String LAST_ANSWER = ".turn:last-child.answer";

  @Test
  void anAnswerIsSeenWhileItComes() {
    browser.server().hold();
    browser.server().reply(StubResponse.chat("One, ", "two, ", "three."));
    browser.open();
    browser.say("Count to three");
    browser.page().awaitText(LAST_ANSWER, "Waiting for the server");
    browser.server().release(2);
    browser.page().awaitText(LAST_ANSWER + " > .prose", "One, two,");
    assertThat(browser.page().text(LAST_ANSWER)).doesNotContain("three");
    assertThat(browser.page().isShown("#stop")).isTrue();
    assertThat(browser.page().text("#announcer")).isEmpty();
    browser.server().releaseAll();
    browser.awaitEnd();
    assertThat(browser.page().text(LAST_ANSWER + " > .prose")).isEqualTo("One, two, three.");
    assertThat(browser.page().text(LAST_ANSWER + " .figures"))
        .isEqualTo("42 tokens · 42.5 tokens/s · 1,024 of 1,100 prompt tokens cached");
    assertThat(browser.page().text("#announcer")).isEqualTo("One, two, three.");
  }

  @Test
  void aRequestSaysWhatTheServerNeeds() {
    browser.open();
    browser.say("Count to three");
    browser.awaitEnd();
    JsonObject request = browser.server().requests().getFirst();
    String id = browser.page().value("location.hash.slice(1)").getAsString();
    assertThat(request)
        .isEqualTo(
            JsonParser.parseString(
                """
                {"model":"kvasir-chat","stream":true,"stream_options":{"include_usage":true},
                 "prompt_cache_key":"%s","messages":[{"role":"user","content":"Count to three"}]}
                """
                    .formatted(id)));
  }

  @Test
  void prefillProgressIsShown() {
    browser.server().hold();
    browser.server().reply(StubResponse.chat("Read.").after(": reading 1024/8192\n\n"));
    browser.open();
    browser.say("A long text");
    browser.server().release(1);
    browser.page().awaitText(LAST_ANSWER, "Prefilling 1,024 of 8,192 tokens");
    assertThat(browser.page().value("document.querySelector('progress').position").getAsDouble())
        .isEqualTo(0.125);
    browser.server().releaseAll();
    browser.awaitEnd();
    assertThat(browser.page().isShown("progress")).isFalse();
  }

  @Test
  void escapeStopsAResponseAndDisconnects() throws InterruptedException {
    browser.server().hold();
    browser.server().stayUntilLeft();
    browser.server().reply(StubResponse.chat("One, ", "two, ".repeat(100_000), "three."));
    browser.open();
    browser.say("Count");
    browser.server().release(1);
    browser.page().awaitText(LAST_ANSWER + " > .prose", "One,");
    browser.page().press("Escape");
    browser.page().awaitText(LAST_ANSWER + " .ending", "Stopped.");
    assertThat(browser.page().isShown("#stop")).isFalse();
    browser.server().releaseAll();
    assertThat(browser.server().awaitBrokenOff()).isEqualTo("/v1/chat/completions");
    assertThat(browser.page().text(LAST_ANSWER + " > .prose")).isEqualTo("One,");
  }

  @Test
  void theButtonStopsTooAndTheNextQuestionKnowsWhatWasSaid() {
    browser.server().hold();
    browser.server().reply(StubResponse.chat("One, ", "two."));
    browser.open();
    browser.say("Count");
    browser.server().release(1);
    browser.page().awaitText(LAST_ANSWER + " > .prose", "One,");
    browser.page().click("#stop");
    browser.page().awaitText(LAST_ANSWER + " .ending", "Stopped.");
    browser.server().releaseAll();
    browser.say("Go on");
    browser.awaitEnd();
    assertThat(browser.server().requests().get(1).getAsJsonArray("messages"))
        .hasToString(
            "[{\"role\":\"user\",\"content\":\"Count\"},"
                + "{\"role\":\"assistant\",\"content\":\"One, \"},"
                + "{\"role\":\"user\",\"content\":\"Go on\"}]");
  }

  @Test
  void shiftAndEnterBreakTheLine() {
    browser.open();
    browser.page().click("#message");
    browser.page().type("one");
    browser.page().pressWithShift("Enter");
    browser.page().type("two");
    assertThat(browser.server().requests()).isEmpty();
    browser.page().press("Enter");
    browser.awaitEnd();
    assertThat(browser.page().text(".said")).isEqualTo("one\ntwo");
  }

  @Test
  void anEditedMessageIsSentAgainAndReplacesWhatFollowed() {
    browser.server().reply(StubResponse.chat("Oslo."));
    browser.server().reply(StubResponse.chat("You are welcome."));
    browser.server().reply(StubResponse.chat("Stockholm."));
    browser.open();
    browser.say("Capital of Norway?");
    browser.awaitEnd();
    browser.say("Thanks");
    browser.page().awaitText(LAST_ANSWER, "welcome");
    browser.awaitEnd();
    browser.page().click(".turn:first-child [aria-label='Edit and ask again']");
    browser.page().fill(".edit textarea", "Capital of Sweden?");
    browser.page().press("Enter");
    browser.page().awaitText(LAST_ANSWER, "Stockholm.");
    assertThat(browser.page().count(".turn")).isEqualTo(2);
    assertThat(browser.page().text(".said")).isEqualTo("Capital of Sweden?");
    assertThat(browser.server().requests().get(2).getAsJsonArray("messages")).hasSize(1);
  }

  @Test
  void anEditThatIsLeftByEscapeChangesNothing() {
    browser.open();
    browser.say("Capital of Norway?");
    browser.awaitEnd();
    browser.page().click("[aria-label='Edit and ask again']");
    browser.page().fill(".edit textarea", "Never mind");
    browser.page().press("Escape");
    assertThat(browser.page().count(".edit")).isZero();
    assertThat(browser.page().text(".said")).isEqualTo("Capital of Norway?");
  }

  @Test
  void anAnswerIsTriedAgain() {
    browser.server().reply(StubResponse.chat("Bergen."));
    browser.server().reply(StubResponse.chat("Oslo."));
    browser.open();
    browser.say("Capital of Norway?");
    browser.awaitEnd();
    browser.page().click(LAST_ANSWER + " [aria-label='Try again']");
    browser.page().awaitText(LAST_ANSWER + " > .prose", "Oslo.");
    assertThat(browser.page().count(".turn")).isEqualTo(2);
    assertThat(browser.server().requests().get(1)).isEqualTo(browser.server().requests().get(0));
  }

  @Test
  void reasoningIsFoldedAway() {
    browser
        .server()
        .reply(
            StubResponse.chat("Four.")
                .after(StubResponse.data(StubResponse.delta("reasoning_content", "2 and 2..."))));
    browser.open();
    browser.say("2 + 2?");
    browser.awaitEnd();
    assertThat(browser.page().text(LAST_ANSWER + " summary")).isEqualTo("Thoughts");
    assertThat(browser.page().isShown(".reasoning .prose")).isFalse();
    browser.page().click(".reasoning summary");
    assertThat(browser.page().text(".reasoning .prose")).isEqualTo("2 and 2...");
  }

  @Test
  void anErrorDuringAStreamKeepsThePartialText() {
    browser.server().reply(StubResponse.chat("One, ", "two").failingAfter(1, "Memory is used up."));
    browser.open();
    browser.say("Count");
    browser.awaitEnd();
    assertThat(browser.page().text(LAST_ANSWER + " > .prose")).isEqualTo("One,");
    assertThat(browser.page().text(LAST_ANSWER + " .error")).isEqualTo("Memory is used up.");
  }

  @Test
  void aStreamThatEndsTooEarlyIsAnError() {
    browser.server().reply(StubResponse.chat("One, ", "two").endingAfter(1));
    browser.open();
    browser.say("Count");
    browser.awaitEnd();
    assertThat(browser.page().text(LAST_ANSWER + " .error")).isEqualTo("The answer is incomplete.");
  }

  @Test
  void aBusyServerSaysWhenToTryAgain() {
    browser
        .server()
        .reply(StubResponse.refusal(429, "All places are taken.").with("Retry-After", "3600"));
    browser.open();
    browser.say("Count");
    browser.awaitEnd();
    assertThat(browser.page().text(LAST_ANSWER + " .error"))
        .isEqualTo("All places are taken. Try again in 60 minutes.");
    browser.page().click(LAST_ANSWER + " [aria-label='Try again']");
    browser.page().awaitText(LAST_ANSWER + " > .prose", "Hello.");
    assertThat(browser.page().isShown(".error")).isFalse();
  }

  @Test
  void anUnreachableServerIsReportedInTheChatAndInThePanel() {
    browser.open();
    browser.server().close();
    browser.say("Count");
    browser.awaitEnd();
    assertThat(browser.page().text(LAST_ANSWER + " .error"))
        .isEqualTo("The server cannot be reached.");
    browser.page().awaitText("#memory-body", "The server cannot be reached.");
  }

  @Test
  void settingsGoWithTheConversation() {
    browser.open();
    browser.page().click("#open-settings");
    browser.page().fill("[name=system]", "Be brief.");
    browser.page().fill("[name=temperature]", "0.5");
    browser.page().fill("[name=maxTokens]", "64");
    browser.page().value("document.querySelector('[name=kv]').value = 'fp16'");
    browser.page().click("#settings-dialog [value=keep]");
    browser.say("Count");
    browser.awaitEnd();
    JsonObject request = browser.server().requests().getFirst();
    assertThat(request.get("temperature").getAsDouble()).isEqualTo(0.5);
    assertThat(request.get("max_tokens").getAsInt()).isEqualTo(64);
    assertThat(request.get("kv").getAsString()).isEqualTo("fp16");
    assertThat(request.getAsJsonArray("messages").get(0))
        .hasToString("{\"role\":\"system\",\"content\":\"Be brief.\"}");
    assertThat(browser.page().text("#kind-in-use")).isEqualTo("cache fp16");
  }

  @Test
  void aModelWithoutAChatContinuesTexts() {
    browser.server().setState(StubStates.STORIES);
    browser.server().reply(StubResponse.text(" lived in", " a *wood*."));
    browser.server().reply(StubResponse.text(" It was red."));
    browser.open();
    assertThat(browser.page().text("#continuing")).contains("continues your text");
    browser.say("A fox who");
    browser.awaitEnd();
    assertThat(browser.page().text(LAST_ANSWER + " > .prose").strip())
        .isEqualTo("lived in a *wood*.");
    assertThat(browser.page().text(LAST_ANSWER + " .ending")).contains("token limit");
    browser.page().click("[aria-label='Continue']");
    browser.page().awaitText(LAST_ANSWER + " > .prose", "It was red.");
    browser.awaitEnd();
    assertThat(browser.server().paths()).containsOnly("/v1/completions");
    assertThat(browser.server().requests())
        .extracting(request -> request.get("prompt").getAsString())
        .containsExactly("A fox who", "A fox who lived in a *wood*.");
  }

  @Test
  void anotherConversationIsReadWhileOneIsAnswered() {
    browser.server().hold();
    browser.server().reply(StubResponse.chat("One, ", "two."));
    browser.open();
    browser.say("Count");
    browser.server().release(1);
    browser.page().awaitText(LAST_ANSWER + " > .prose", "One,");
    browser.page().click("#new-conversation");
    assertThat(browser.page().count(".turn")).isZero();
    assertThat(browser.page().isShown("#stop")).isFalse();
    assertThat(browser.page().count(".line.running")).isEqualTo(1);
    browser.server().releaseAll();
    browser.page().await("!document.querySelector('.line.running')");
    browser.page().click(".line-open");
    assertThat(browser.page().text(LAST_ANSWER + " > .prose")).isEqualTo("One, two.");
  }
}
