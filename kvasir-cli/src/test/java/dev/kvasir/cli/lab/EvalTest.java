package dev.kvasir.cli.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.cli.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EvalTest {
  @TempDir private static Path models;
  private static String shallow;

  @TempDir private Path folder;

  @BeforeAll
  static void write() {
    shallow = ShallowModel.write(models.resolve("shallow.gguf")).toString();
  }

  @Test
  void rowsAreKindsOfCacheAndHalfPrecisionComesFirst() throws IOException {
    Path json = folder.resolve("result.json");
    CommandRun run =
        CommandRun.of(
                "eval",
                "--model",
                shallow,
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
    assertThat(run.err().lines()).allMatch(line -> line.startsWith("evaluating: ")); // if slow
    JsonObject result = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
    assertThat(result.getAsJsonArray("rows")).hasSize(3);
    assertThat(result.get("complete").getAsBoolean()).isTrue();
    assertThat(result.get("text").getAsString()).isEqualTo("the bundled text");
  }

  @Test
  void aReportShowsTheRowsTheKeysAndTheCommand() throws IOException {
    Path report = folder.resolve("report.html");
    String[] command = {
      "eval",
      "--kv",
      "kivi:4; bf16",
      "--tasks",
      "ppl",
      "--context",
      "300",
      "--inspect-kv",
      "--model",
      shallow
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
  void sampledAnswersHaveTheirMeanMajorityAndDeviation() throws IOException {
    Path json = folder.resolve("sampled.json");
    CommandRun run =
        CommandRun.of(
                "eval",
                "--model",
                shallow,
                "--kv",
                "kivi:2,window=0,sinks=0",
                "--tasks",
                "chain",
                "--steps",
                "4",
                "--samples",
                "2",
                "--context",
                "256",
                "--temperature",
                "0.7",
                "--top-p",
                "0.95",
                "--answers",
                "3",
                "--budget-context",
                "4000",
                "--json",
                json.toString())
            .succeeds();
    assertThat(run.out().lines())
        .anyMatch(line -> line.matches("cache .* chain avg@3 +steps +maj@3 +pass@1 sd"))
        .anyMatch(
            line -> line.contains("3 answers at temperature 0.7, top-p 0.95, budgets of 4000"));
    JsonObject result = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
    assertThat(result.getAsJsonObject("settings").getAsJsonObject("sampling").toString())
        .isEqualTo("{\"temperature\":0.7,\"topP\":0.95,\"answers\":3,\"seed\":1}");
  }

  @Test
  void outliersAndFloatActivationsAreNamed() throws IOException {
    Path json = folder.resolve("outliers.json");
    CommandRun.of(
            "eval",
            "--model",
            shallow,
            "--kv",
            "fp16",
            "--tasks",
            "ppl",
            "--context",
            "256",
            "--outliers",
            "2:8",
            "--activations",
            "float",
            "--json",
            json.toString())
        .succeeds();
    JsonObject result = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
    assertThat(result.get("model").getAsString()).endsWith("with outliers 2:8.0 seed 1");
    assertThat(result.get("machine").getAsString()).contains(", float activations kernels");
  }

  @Test
  void badSettingsOfAnswersAndOfTheTestBedAreRefused() {
    CommandRun.of("eval", "--answers", "8")
        .isRefusedWith("--answers is 8 at --temperature 0; expected a temperature");
    CommandRun.of("eval", "--top-p", "1.5").isRefusedWith("--top-p is 1.5; expected more than 0");
    CommandRun.of("eval", "--temperature", "-1").isRefusedWith("--temperature is -1.0; expected 0");
    CommandRun.of("eval", "--budget-context", "0")
        .isRefusedWith("--budget-context is 0; expected 1 to");
    CommandRun.of("eval", "--activations", "double")
        .isRefusedWith("--activations is 'double'; possible are bytes, float");
    CommandRun.of("eval", "--outliers", "4")
        .isRefusedWith("outliers are '4'; expected PAIRS:FACTOR, such as 4:16");
    CommandRun.of("eval", "--model", shallow, "--outliers", "99:16")
        .isRefusedWith("outliers are 99 pairs;", "has 32 in a head");
    CommandRun.of(
            "eval", "--model", shallow, "--outliers", "4:16", "--kv", "mixkvq", "--context", "256")
        .isRefusedWith("the cache 'mixkvq' has no thresholds");
    CommandRun.of("eval", "--outliers", "4:16", "--on", "local[2]")
        .isRefusedWith("--outliers changes the model of this process; expected no --on");
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
