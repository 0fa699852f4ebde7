package dev.kvasir.cli.batch;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.cli.CommandRun;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command with a model. */
class BatchTest {
  @TempDir private Path folder;

  @Test
  void aFileOfRequestsIsRun() throws Exception {
    Path model = ShallowModel.write(folder.resolve("shallow.gguf"));
    Path in = folder.resolve("in.jsonl");
    Path out = folder.resolve("out.jsonl");
    Files.write(
        in,
        List.of(
            "{\"custom_id\": \"a\", \"method\": \"POST\", \"url\": \"/v1/completions\","
                + " \"body\": {\"prompt\": \"Once\", \"max_tokens\": 4, \"temperature\": 0}}",
            "{\"custom_id\": \"b\", \"method\": \"POST\", \"url\": \"/v1/chat/completions\","
                + " \"body\": {\"messages\": [], \"max_tokens\": 4}}",
            "{\"custom_id\": \"c\", \"method\": \"POST\", \"url\": \"/v1/none\", \"body\": {}}"));
    CommandRun run =
        CommandRun.of(
            "batch", in.toString(), out.toString(), "--model", model.toString(), "--kv", "kivi:2");
    assertThat(run.err()).contains("3 lines written, 2 of them errors, 0 skipped");
    assertThat(run.exitCode()).isZero();
    assertThat(status(out, "a")).isEqualTo(200);
    assertThat(status(out, "b")).isEqualTo(400);
    assertThat(status(out, "c")).isEqualTo(404);
  }

  private static int status(Path out, String id) throws Exception {
    for (String line : Files.readAllLines(out)) {
      JsonObject json = JsonParser.parseString(line).getAsJsonObject();
      if (json.get("custom_id").getAsString().equals(id)) {
        return json.getAsJsonObject("response").get("status_code").getAsInt();
      }
    }
    throw new AssertionError(id);
  }

  @Test
  void mistakesAreReportedBeforeTheModelLoads() throws Exception {
    String in = folder.resolve("in.jsonl").toString();
    assertThat(CommandRun.of("batch", in, "out.jsonl").err()).contains("in.jsonl: no such file");
    Files.writeString(Path.of(in), "");
    CommandRun same = CommandRun.of("batch", in, in);
    assertThat(same.exitCode()).isEqualTo(2);
    assertThat(same.err()).contains("in.jsonl; expected two files");
  }
}
