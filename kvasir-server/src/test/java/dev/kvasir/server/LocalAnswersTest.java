package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.LoadOptions;
import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.watch.ServerLog;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Answers without HTTP. */
class LocalAnswersTest {
  private static final LocalAnswer.Listener NOBODY = new LocalAnswer.Listener() {};

  private static Model model;
  private static LocalAnswers answers;

  @BeforeAll
  static void open() {
    model = Model.bundled(LoadOptions.defaults().withCacheBytes(64 << 20));
    ServerOptions options =
        ServerOptions.defaults()
            .withKinds(Stream.of("fp16", "kivi:2").map(CacheSpec::parse).toList());
    answers = LocalAnswers.of(model, options, new ServerLog(System.err));
  }

  @AfterAll
  static void close() {
    answers.close();
    model.close();
  }

  private static JsonObject request(String fields) {
    return JsonParser.parseString(
            "{\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}], \"temperature\": 0, "
                + fields
                + "}")
        .getAsJsonObject();
  }

  @Test
  void piecesAndTheWholeAreTheSameText() {
    List<String> pieces = new ArrayList<>();
    LocalAnswer.Whole whole =
        answers
            .chat(request("\"max_tokens\": 12, \"n\": 3"))
            .run(
                new LocalAnswer.Listener() {
                  @Override
                  public void text(String piece) {
                    pieces.add(piece);
                  }
                });
    assertThat(String.join("", pieces)).isEqualTo(whole.text()).isNotBlank();
    assertThat(whole.generatedTokens()).isEqualTo(12);
    assertThat(whole.reason()).isEqualTo("length");
    assertThat(whole.promptTokens()).isPositive();
    assertThat(whole.model()).isEqualTo("kvasir-mini");
  }

  @Test
  void aNameChoosesTheKindOfCache() {
    assertThat(answers.names()).containsExactly("kvasir-mini", "kvasir-mini@kivi:2");
    JsonObject request = request("\"max_tokens\": 1, \"model\": \"kvasir-mini@kivi:2\"");
    assertThat(answers.chat(request).run(NOBODY).model()).isEqualTo("kvasir-mini@kivi:2");
  }

  @Test
  void aCallHasANameOfItsOwn() {
    List<LocalAnswer.Call> calls = new ArrayList<>();
    LocalAnswer.Whole whole =
        answers
            .chat(
                request(
                    "\"tool_choice\": \"required\", \"tools\": [{\"type\": \"function\","
                        + " \"function\": {\"name\": \"now\", \"parameters\": {\"type\":"
                        + " \"object\", \"properties\": {}}}}]"))
            .run(
                new LocalAnswer.Listener() {
                  @Override
                  public void call(LocalAnswer.Call call) {
                    calls.add(call);
                  }
                });
    assertThat(whole.reason()).isEqualTo("tool_calls");
    assertThat(whole.calls()).isEqualTo(calls).hasSize(1);
    assertThat(calls.getFirst().id()).startsWith("call_");
    assertThat(calls.getFirst().arguments()).isEqualTo("{}");
  }

  @Test
  void aCancelledAnswerTellsNothingMoreAndLeavesItsMemory() throws InterruptedException {
    List<String> pieces = new ArrayList<>();
    LocalAnswer answer = answers.chat(request("\"max_tokens\": 4000"));
    assertThatThrownBy(
            () ->
                answer.run(
                    new LocalAnswer.Listener() {
                      @Override
                      public void text(String piece) {
                        pieces.add(piece);
                        answer.cancel();
                      }
                    }))
        .isInstanceOf(CancellationException.class);
    assertThat(pieces).hasSize(1);
    assertThat(answer.isCancelled()).isTrue();
    while (answers.admission().running() > 0) {
      Thread.sleep(5);
    }
    model.prefixes().clear();
    assertThat(model.cacheMemory().taken()).isZero();
  }

  @Test
  void aRequestThatCannotBeAnsweredIsRefusedBeforeItRuns() {
    assertThatThrownBy(() -> answers.chat(request("\"temperature\": -1")))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("temperature is -1");
  }
}
