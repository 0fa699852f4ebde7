package dev.kvasir.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Servers that want a key. */
class KeyTest {
  @RegisterExtension static final Stage stage = new Stage();

  @BeforeEach
  void open() {
    stage.server().wantKey("mead");
    stage.page().open(stage.server().address());
    stage.page().await("document.getElementById('key-dialog').open");
  }

  private static void give(String key) {
    stage.page().fill("[name=key]", key);
    stage.page().press("Enter");
  }

  @Test
  void aKeyIsAskedForUntilTheServerKnowsItAndKeptForTheTab() {
    give("ale");
    stage.page().awaitText("#key-hint", "does not know the key");
    give("mead");
    stage.page().awaitText("#memory-body", "768 MiB of 2 GiB");
    stage.say("Count");
    stage.awaitEnd();
    assertThat(stage.page().text(".answer > .prose")).isEqualTo("Hello.");
    stage.page().reload();
    stage.page().awaitText("#memory-body", "768 MiB of 2 GiB");
    assertThat(stage.page().isShown("#key-dialog")).isFalse();
    assertThat(stage.page().value("JSON.stringify(localStorage)").getAsString())
        .doesNotContain("mead");
  }

  @Test
  void whoGivesNoneIsToldInPlaceAndAskedAgainWithTheNextMessage() {
    stage.page().press("Escape");
    stage.page().awaitText("#memory-body", "wants a key");
    stage.say("Count");
    stage.page().await("document.getElementById('key-dialog').open");
    stage.page().click("#key-dialog [data-cancel]");
    stage.page().awaitText(".answer .error", "wants a key");
    stage.page().click("[aria-label='Try again']");
    stage.page().await("document.getElementById('key-dialog').open");
    give("mead");
    stage.page().awaitText(".answer > .prose", "Hello.");
    stage.page().awaitText("#memory-body", "768 MiB of 2 GiB");
  }
}
