package dev.kvasir.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import dev.kvasir.format.GgufFile;
import dev.kvasir.format.Tensor;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

class ShapeBenchTest {
  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource
  void aModelOfRandomWeightsIsLoadedAndGenerates(RandomWeightType type) {
    Path file = folder.resolve("one-layer.gguf");
    RandomModelFile.write(file, ModelPreset.of("tinyllama"), 1, type, (done, inAll) -> {});
    try (LoadedModel model = LoadedModel.load(file);
        ModelSession session = model.newSession()) {
      assertThat(model.config().layers()).isEqualTo(1);
      assertThat(model.config().kvHeads()).isEqualTo(4);
      assertThat(model.config().keyDim()).isEqualTo(64);
      GenerationSettings two = GenerationSettings.greedy().withMaxTokens(2);
      assertThat(session.generate("Once", two, piece -> {}).generatedTokens()).isEqualTo(2);
    }
    try (GgufFile stored = GgufFile.open(file)) {
      Tensor weights = stored.find("output.weight").orElseThrow();
      assertThat(weights.type().name()).isEqualTo(type.name());
      float[] row = new float[ModelPreset.TINYLLAMA.width];
      weights.type().decode(weights.data(), 0, row.length, row, 0);
      double square = IntStream.range(0, row.length).mapToDouble(i -> row[i] * row[i]).sum();
      assertThat(Math.sqrt(square)).isBetween(0.5, 2.0);
    }
  }

  @ParameterizedTest
  @CsvSource({"granite-h-1b, 10", "qwen3.5-0.8b, 4"})
  void aHybridOfRandomWeightsGenerates(String preset, int layers) {
    Path file = folder.resolve("hybrid.gguf");
    RandomWeightType weights = RandomWeightType.of("q4_k");
    RandomModelFile.write(file, ModelPreset.of(preset), layers, weights, (done, inAll) -> {});
    try (LoadedModel model = LoadedModel.load(file);
        ModelSession session = model.newSession()) {
      GenerationSettings two = GenerationSettings.greedy().withMaxTokens(2);
      assertThat(session.generate("Once", two, piece -> {}).generatedTokens()).isEqualTo(2);
    }
  }

  @Test
  void aMixtureOfRandomExpertsIsMeasuredAgainstADenseModel() {
    Path mixed = folder.resolve("mixed.gguf");
    Path dense = folder.resolve("dense.gguf");
    RandomWeightType weights = RandomWeightType.of("q4_k");
    RandomModelFile.write(mixed, ModelPreset.of("moe-1b"), 1, weights, (done, inAll) -> {});
    RandomModelFile.write(dense, ModelPreset.of("tinyllama"), 1, weights, (done, inAll) -> {});
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
    String[] arguments = {
      "--dense",
      dense.toString(),
      "--experts",
      mixed.toString(),
      "--rows",
      "1,9",
      "--rounds",
      "1",
      "--tokens",
      "2"
    };
    assertThat(
            new CommandLine(new ExpertBench(out, new PrintStream(OutputStream.nullOutputStream())))
                .execute(arguments))
        .isZero();
    assertThat(printed.toString(StandardCharsets.UTF_8).lines())
        .hasSize(5)
        .last(STRING)
        .matches(" +9 +[0-9.]+ +[0-9.]+ +[0-9.]+");
    Refusal.of(ExpertBench::new, "--dense", mixed.toString(), "--experts", dense.toString())
        .says("has no experts");
  }

  @Test
  void invalidValuesAreRefusedByName() {
    Refusal.of(ShapeBench::new, "--like", "gpt-5", "--out", "x")
        .says(
            "--like is 'gpt-5'; expected one of llama-8b, llama-3b, tinyllama, moe-1b, moe-30b-a3b,"
                + " dense-a3b, granite-h-1b, qwen3.5-0.8b");
    Refusal.of(ShapeBench::new, "--type", "q9", "--out", "x").says("--type is 'q9'");
    Refusal.of(RestoreBench::new, "--tokens", "1000").says("--tokens is 1000; expected a multiple");
  }
}
