package dev.kvasir.cli.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.cli.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EvalTest {
  @TempDir private Path folder;

  @Test
  void rowsAreKindsOfCacheAndHalfPrecisionComesFirst() throws IOException {
    Path json = folder.resolve("result.json");
    CommandRun run =
        CommandRun.of(
                "eval",
                "--kv",
                "kivi:4,window=0; bf16",
                "--tasks",
                "ppl,kld",
                "--context",
                "300",
                "--json",
                json.toString())
            .succeeds();
    assertThat(run.out().lines())
        .allMatch(line -> line.length() <= 100)
        .anyMatch(line -> line.matches("cache +bits +KV MiB +tok/s +ppl +kld +kld p99 +same top"))
        .anyMatch(line -> line.matches("fp16 .* 0\\.0000 .*100\\.0%"))
        .anyMatch(line -> line.startsWith("kivi:4,window=0 "))
        .anyMatch(line -> line.startsWith("bf16 "));
    assertThat(run.err()).isEmpty();
    JsonObject result = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
    assertThat(result.getAsJsonArray("rows")).hasSize(3);
    assertThat(result.get("complete").getAsBoolean()).isTrue();
    assertThat(result.get("text").getAsString()).isEqualTo("the bundled text");
  }

  @Test
  void aReportShowsTheRowsTheKeysAndTheCommand() throws IOException {
    Path report = folder.resolve("report.html");
    String[] command = {
      "eval", "--kv", "kivi:4; bf16", "--tasks", "ppl", "--context", "300", "--inspect-kv"
    };
    CommandRun.of(
            Stream.concat(Stream.of(command), Stream.of("--report", report.toString()))
                .toArray(String[]::new))
        .succeeds();
    assertThat(report)
        .content()
        .contains("<th scope=\"row\">bf16</th>", "\"keyRanges\":{\"tokens\":300,")
        .contains("<code>kvasir eval --kv &#39;kivi:4; bf16&#39; --tasks ppl --context 300");
  }

  @Test
  void badSettingsAreRefusedBeforeAnyWork() {
    CommandRun.of("eval", "--kv", "fp16;kivi:5").isRefusedWith("'kivi:5'", "bits is 5");
    CommandRun.of("eval", "--tasks", "ppl,nothing").isRefusedWith("'nothing' is unknown", "needle");
    CommandRun.of("eval", "--tasks", "gsm8k").isRefusedWith("--jsonl FILE");
    CommandRun.of("eval", "--samples", "0").isRefusedWith("--samples is 0; expected 1 to");
    CommandRun.of("eval", "--steps", "-1").isRefusedWith("--steps is -1; expected 1 to");
    CommandRun.of("eval", "--seed", "x").isRefusedWith("--seed is 'x'; expected a whole number");
    CommandRun.of("eval", "--context", "100")
        .isRefusedWith("--context is 100; expected 256 to 16384");
    CommandRun.of("eval", "--context", "1000,20000").isRefusedWith("--context is 20000", "16384");
  }

  @Test
  void badFilesAreRefusedBeforeAnyWork() throws IOException {
    Path empty = Files.writeString(folder.resolve("empty.txt"), " \n");
    CommandRun.of("eval", "--text", empty.toString()).isRefusedWith("empty.txt: is empty");
    Path words = Files.writeString(folder.resolve("words.txt"), "Only a few words.");
    CommandRun.of("eval", "--text", words.toString())
        .isRefusedWith("words.txt: has", "tokens; expected at least 129");
    Path lines = Files.writeString(folder.resolve("lines.jsonl"), "{\"question\": 1}\n");
    CommandRun.of("eval", "--jsonl", lines.toString())
        .isRefusedWith("lines.jsonl, line 1: 'answer' is missing; expected a text");
    CommandRun.of("eval", "--json", folder.resolve("none/result.json").toString())
        .isRefusedWith("result.json: its folder", "is missing");
    CommandRun.of("eval", "--report", folder.resolve("none/report.html").toString())
        .isRefusedWith("report.html: its folder", "is missing");
    CommandRun.of("eval", "--inspect-kv").isRefusedWith("--inspect-kv", "--report FILE");
  }

  @Test
  void whatGoesToSparkIsRefusedWhereSparkIsNot() {
    CommandRun.of("eval", "--quick", "--on", "local[2]")
        .isRefusedWith("--on is 'local[2]'", "Spark is not on the class path", "SPARK_HOME");
    CommandRun.of("eval", "--quick", "--ship").isRefusedWith("--ship is for Spark", "--on MASTER");
    CommandRun.of("eval", "--quick", "--conf", "spark.executor.memory=8g")
        .isRefusedWith("--conf is for Spark", "--on MASTER");
  }
}
