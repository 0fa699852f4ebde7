package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands check their options against the model's files before they load or compute anything. */
class RefusalTest {
  @TempDir Path folder;

  @Test
  void aServerHasMemoryForAnAnswer() {
    CommandRun.of("serve", "--port", "0", "--kv-memory", "1KiB")
        .isRefusedWith(
            "--kv-memory is 1KiB; expected at least",
            "MiB, which an answer of 2048 tokens may take with 'fp16'");
    CommandRun.of("serve", "--port", "0", "--kv-memory", "1KiB", "--answer-tokens", "1")
        .isRefusedWith("expected at least 512KiB, which an answer of 1 tokens");
  }

  /** The cache of a draft model is in the same memory. */
  @Test
  void aServerHasMemoryForADraft() throws IOException {
    CommandRun.of(
            ("serve --port 0 --kv-memory 1KiB --answer-tokens 1 --speculate " + draft()).split(" "))
        .isRefusedWith("expected at least 1MiB, which an answer of 1 tokens");
  }

  private Path draft() throws IOException {
    Path draft = folder.resolve("draft.gguf");
    try (InputStream model =
        RefusalTest.class.getResourceAsStream("/dev/kvasir/mini/kvasir-mini-q8_0.gguf")) {
      Files.copy(model, draft);
    }
    return draft;
  }

  @Test
  void aChosenCacheLeavesMemoryForADraft() throws IOException {
    CommandRun.of(
            "generate",
            "--kv",
            "auto",
            "--kv-memory",
            "1MiB",
            "--speculate",
            draft().toString(),
            "x")
        .isRefusedWith("no cache holds", "the cache of the draft model takes");
  }

  /** A deployment that does not know its model gives them. */
  @Test
  void anEncoderIgnoresOptionsOfCaches() throws IOException {
    Files.writeString(folder.resolve("config.json"), "{\"model_type\": \"bert\"}");
    String options = "--kv kivi:2 --kv-memory 1GiB --max-sequences 3";
    CommandRun run =
        CommandRun.of("serve --port 0 --model %s %s".formatted(folder, options).split(" "));
    assertThat(run.err())
        .contains("--kv, --kv-memory: ignored, since %s is an encoder".formatted(folder));
  }

  @ParameterizedTest
  @ValueSource(strings = {"--tool-format auto", "--lora none", "--speculate ngram"})
  void anEncoderHasNoOptionsOfGeneration(String option) throws IOException {
    Files.writeString(folder.resolve("config.json"), "{\"model_type\": \"bert\"}");
    CommandRun.of("serve --port 0 --model %s %s".formatted(folder, option).split(" "))
        .isRefusedWith(
            "%s is given, but %s is an encoder; expected a model that generates text"
                .formatted(option.split(" ")[0], folder));
  }

  @ParameterizedTest
  @ValueSource(strings = {"generate", "chat"})
  void aSessionHasMemoryForAToken(String command) {
    CommandRun.withInput("Once", command, "--kv-memory", "1KiB")
        .isRefusedWith(
            "--kv-memory is 1KiB; expected at least 512KiB, which the first token takes with"
                + " 'fp16'");
  }

  /** The first token takes less than the budget of the whole text. */
  @ParameterizedTest
  @ValueSource(strings = {"pmkvq:2,budget=4bits", "pmkvq:2,budget=64MiB"})
  void aSessionWithABudgetHasMemoryForAToken(String spec) {
    CommandRun.of(
            "generate", "--kv", spec, "--kv-memory", "32MiB", "--max-tokens", "1", "Once upon")
        .succeeds();
  }

  @ParameterizedTest
  @ValueSource(strings = {"generate", "chat", "serve"})
  void aContextIsAtMostTheModels(String command) {
    CommandRun.withInput("Once", command, "--context", "20000")
        .isRefusedWith("--context is 20000; expected at most 16384, the context of the model");
  }

  @Test
  void speculationIsKnownAndVerifiable() {
    CommandRun.of("generate", "--speculate", "ngrm", "Once")
        .isRefusedWith("--speculate is 'ngrm'; expected off, ngram, auto, or a model that exists");
    CommandRun.of("serve", "--speculate", "ngram", "--device", "cuda")
        .isRefusedWith("--speculate is ngram; with --device cuda expected off or auto");
  }

  @Test
  void devicesHaveNumbers() {
    CommandRun.of("serve", "--speculate", "ngram", "--device", "cuda:1")
        .isRefusedWith("--speculate is ngram; with --device cuda expected off or auto");
    CommandRun.of("serve", "--speculate", "ngram", "--device", "cuda:0,cuda:1")
        .isRefusedWith("--speculate is ngram; with --device cuda expected off or auto");
    CommandRun.of("generate", "--device", "cuda:x", "Once").isRefusedWith("--device is 'cuda:x'");
    for (String several : List.of("cuda:0,1", "cuda:0,", "cuda:0,cpu", "cuda,cuda:1")) {
      CommandRun.of("generate", "--device", several, "Once")
          .isRefusedWith(
              "--device is '%s'; several are GPUs with their numbers, such as cuda:0,cuda:1"
                  .formatted(several));
    }
  }

  @Test
  void theLabKeepsToTheModelsContext() {
    String file = folder.resolve("a.profile").toString();
    CommandRun.of("tune", "--context", "20000", "--out", file)
        .isRefusedWith("--context is 20000; expected at most 16384");
    CommandRun.of("calibrate", "--kv", "mead", "--length", "20000", "--out", file)
        .isRefusedWith("--length is 20000; expected at most 16384");
    CommandRun.of("eval", "--context", "20000").isRefusedWith("--context is 20000", "16384");
    assertThat(Path.of(file)).doesNotExist();
  }

  @Test
  void aProfileIsReadableAndTheModels() throws IOException {
    String none = folder.resolve("none").toString();
    CommandRun.of("generate", "--profile", none, "Once").isRefusedWith("none: no such file");
    Path prose = Files.writeString(folder.resolve("prose"), "no profile at all");
    CommandRun.of("serve", "--profile", prose.toString()).isRefusedWith("prose");
    CommandRun.of("tune", "--out", prose.toString()).isRefusedWith("prose");
    CommandRun.of("calibrate", "--kv", "oscar", "--out", prose.toString()).isRefusedWith("prose");
    assertThat(prose).hasContent("no profile at all");
  }

  @Test
  void resultsHaveAFolder() {
    String file = folder.resolve("none/x").toString();
    for (String command :
        new String[] {
          "generate --session %s Once",
          "inspect --plot %s",
          "eval --json %s",
          "eval --report %s",
          "compare --out %s",
          "compare --frontier %s",
          "tune --out %s",
          "calibrate --kv mead --out %s",
          "patterns --out %s",
          "patterns --json %s",
          "codebooks --json %s",
          "claims --out %s"
        }) {
      CommandRun.of(command.formatted(file).split(" "))
          .isRefusedWith("x: its folder", "is missing");
    }
  }
}
