package dev.kvasir.cli.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.server.OfflineServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs batches against an endpoint that answers with the body it got. */
@Timeout(60)
class BatchRunTest {
  @TempDir private Path folder;

  private final List<String> asked = new CopyOnWriteArrayList<>();
  private Path input;
  private Path output;

  @BeforeEach
  void name() {
    input = folder.resolve("in.jsonl");
    output = folder.resolve("out.jsonl");
  }

  private static String line(String id) {
    return "{\"custom_id\": \"%s\", \"method\": \"POST\", \"url\": \"/v1/echo\", \"body\": {\"a\": \"%s\"}}"
        .formatted(id, id);
  }

  private OfflineServer.Response echo(String path, String body) {
    asked.add(body);
    return new OfflineServer.Response(body.contains("bad") ? 400 : 200, "  " + body);
  }

  private BatchRun.Summary run(BatchRun.Endpoint endpoint) throws Exception {
    try (BatchOutput out = new BatchOutput(output)) {
      return new BatchRun(input, out, endpoint, 2, () -> false).run((done, skipped) -> {});
    }
  }

  private List<JsonObject> lines() throws Exception {
    List<JsonObject> lines = new ArrayList<>();
    for (String line : Files.readAllLines(output)) {
      lines.add(JsonParser.parseString(line).getAsJsonObject());
    }
    return lines;
  }

  private JsonObject lineOf(int number) throws Exception {
    return lines().stream()
        .filter(line -> line.get("id").getAsString().equals("batch_req_" + number))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void everyLineGetsOneOfOpenAisForm() throws Exception {
    Files.writeString(
        input,
        String.join(
            "\n",
            line("one"),
            "",
            line("bad"),
            "not JSON",
            line("one"),
            "{\"custom_id\": \"get\", \"method\": \"GET\", \"url\": \"/v1/echo\", \"body\": {}}",
            "{\"custom_id\": \"s\", \"url\": \"/v1/echo\", \"body\": {\"stream\": true}}"));
    assertThat(run(this::echo)).isEqualTo(new BatchRun.Summary(6, 5, 0));
    assertThat(lineOf(1))
        .hasToString(
            "{\"id\":\"batch_req_1\",\"custom_id\":\"one\",\"response\":{\"status_code\":200,"
                + "\"request_id\":\"batch_req_1\",\"body\":{\"a\":\"one\"}},\"error\":null}");
    assertThat(lineOf(3).getAsJsonObject("response").get("status_code").getAsInt()).isEqualTo(400);
    assertThat(lineOf(4).get("custom_id").isJsonNull()).isTrue();
    assertThat(lineOf(5).get("error").toString()).contains("custom_id is 'one' as on an earlier");
    assertThat(lineOf(6).get("error").toString()).contains("method is 'GET'; expected POST");
    assertThat(lineOf(7).get("error").toString()).contains("stream is true");
    assertThat(run(this::echo)).isEqualTo(new BatchRun.Summary(0, 0, 6));
  }

  @Test
  void anInterruptedRunContinues() throws Exception {
    Files.writeString(input, line("one") + "\n" + line("two") + "\n" + line("three"));
    CountDownLatch begun = new CountDownLatch(1);
    AtomicBoolean interrupted = new AtomicBoolean();
    BatchRun.Endpoint stuck =
        (path, body) -> {
          if (body.contains("one")) {
            return echo(path, body);
          }
          begun.countDown();
          new CountDownLatch(1).await();
          throw new IllegalStateException();
        };
    try (BatchOutput out = new BatchOutput(output)) {
      BatchRun run = new BatchRun(input, out, stuck, 2, interrupted::get);
      BatchRun.Summary summary =
          run.run((done, skipped) -> interrupted.set(done == 1 && begun.getCount() == 0));
      assertThat(summary.done()).isEqualTo(1);
    }
    Files.writeString(output, "{\"id\": \"batch_req_2\", \"cus", StandardOpenOption.APPEND);
    asked.clear();
    assertThat(run(this::echo)).isEqualTo(new BatchRun.Summary(2, 0, 1));
    assertThat(asked).hasSize(2);
    assertThat(lines())
        .extracting(line -> line.get("custom_id").getAsString())
        .containsExactlyInAnyOrder("one", "two", "three");
  }

  @Test
  void aFailingRequestEndsNothing() throws Exception {
    Files.writeString(input, line("one") + "\n" + line("two"));
    run(
        (path, body) -> {
          if (body.contains("one")) {
            throw new IllegalStateException("lost");
          }
          return echo(path, body);
        });
    assertThat(lineOf(1).getAsJsonObject("error").get("code").getAsString())
        .isEqualTo("server_error");
    assertThat(lineOf(2).get("error").isJsonNull()).isTrue();
  }

  @Test
  void anotherFileIsNotOverwritten() throws Exception {
    Files.writeString(input, line("one"));
    Files.writeString(output, "{}\nmy notes\n");
    assertThatThrownBy(() -> run(this::echo))
        .hasMessageContaining("out.jsonl:1 is no line of a batch's output");
    assertThat(Files.readString(output)).isEqualTo("{}\nmy notes\n");
  }
}
