package dev.kvasir.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.GenerateOptions;
import dev.kvasir.Model;
import dev.kvasir.Session;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShapeBenchTest {
  @TempDir private Path folder;

  @Test
  void aModelOfRandomWeightsIsLoadedAndGenerates() {
    Path file = folder.resolve("one-layer.gguf");
    RandomModelFile.write(
        file, KnownShape.of("tinyllama"), 1, RandomWeights.of("q4_k"), (done, inAll) -> {});
    try (Model model = Model.load(file);
        Session session = model.newSession()) {
      assertThat(model.config().layers()).isEqualTo(1);
      assertThat(model.config().kvHeads()).isEqualTo(4);
      assertThat(model.config().keyDim()).isEqualTo(64);
      GenerateOptions two = GenerateOptions.greedy().withMaxTokens(2);
      assertThat(session.generate("Once", two, piece -> {}).generatedTokens()).isEqualTo(2);
    }
  }

  @Test
  void whatIsNotKnownIsRefusedByName() {
    Refusal.of(ShapeBench::new, "--like", "gpt-5", "--out", "x")
        .says("--like is 'gpt-5'; expected one of llama-8b, llama-3b, tinyllama");
    Refusal.of(ShapeBench::new, "--type", "q9", "--out", "x").says("--type is 'q9'");
    Refusal.of(RestoreBench::new, "--tokens", "1000").says("--tokens is 1000; expected a multiple");
  }
}
