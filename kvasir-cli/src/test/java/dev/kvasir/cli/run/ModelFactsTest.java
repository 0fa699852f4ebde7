package dev.kvasir.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.terminal.FactSheet;
import dev.kvasir.model.Activation;
import dev.kvasir.model.Architecture;
import dev.kvasir.model.ExpertConfig;
import dev.kvasir.model.LatentConfig;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.ModelConfig.RopeSettings;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.model.RopePattern;
import dev.kvasir.model.Routing;
import dev.kvasir.model.Scales;
import dev.kvasir.model.WindowPattern;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The special features of a model are described, and absent ones are not mentioned. */
class ModelFactsTest {
  private static final int LAYERS = 12;

  private static final RopeSettings PLAIN =
      new RopeSettings(RopeLayout.HALVES, 10_000, 64, new RopeFrequencies.Unscaled());

  @Test
  void layersThatDifferAreCounted() {
    RopeSettings stretched =
        new RopeSettings(RopeLayout.HALVES, 1_000_000, 64, new RopeFrequencies.Linear(8));
    RopePattern ropes = new RopePattern(List.of(stretched, PLAIN), layer -> layer % 6 == 5 ? 0 : 1);
    assertThat(facts(ropes, layer -> layer % 6 == 5 ? WindowPattern.UNBOUNDED : 512, gemma()))
        .contains("4,096 tokens, a sliding window of 512 in 10 layers")
        .contains("base 1,000,000, 64 channels, halves paired, stretched by 8.0, in 2 layers")
        .contains("base 10,000, 64 channels, halves paired, in 10 layers")
        .containsPattern("scales +embeddings by 8.000, queries by 1.250\\R")
        .containsPattern("caps +scores within 50.00, logits within 30.00\\R");
  }

  private static Scales gemma() {
    return new Scales(8, 1.25f, 1, 1, 50, 30);
  }

  @Test
  void layersWithoutPositionsAreCounted() {
    RopePattern ropes =
        new RopePattern(List.of(PLAIN), layer -> layer % 4 == 3 ? RopePattern.NONE : 0);
    assertThat(facts(ropes, WindowPattern.FULL, Scales.NONE))
        .contains("halves paired, in 9 layers")
        .containsPattern("rope +none, in 3 layers")
        .doesNotContain("scales", "caps", "window");
  }

  @Test
  void stretchingNamesItsRule() {
    assertThat(facts(new RopeFrequencies.Yarn(4, 2048, 32, 1, true), 1.1386))
        .contains(", stretched by 4.0 after 2,048 tokens (YaRN), lengthened by 1.1386\n");
    float[] factors = new float[32];
    assertThat(facts(new RopeFrequencies.LongRope(factors, factors, 2048, 4096), 1))
        .contains(", stretched by factors for texts beyond 2,048 tokens (LongRoPE)\n");
    assertThat(facts(new RopeFrequencies.LongRope(factors, factors, 4096, 4096), 1))
        .contains(", stretched by factors for texts within 4,096 tokens (LongRoPE)\n");
  }

  private static String facts(RopeFrequencies frequencies, double magnitude) {
    RopeSettings rope =
        new RopeSettings(RopeLayout.INTERLEAVED, 10_000, 64, frequencies, magnitude);
    return facts(RopePattern.uniform(rope), WindowPattern.FULL, Scales.NONE);
  }

  @Test
  void expertsAreCountedWithWhatAllShare() {
    Routing routing = new Routing(Routing.Score.SIGMOID, Routing.Groups.NONE, true, 1);
    assertThat(facts(new ExpertConfig(8, 2, 1536, 0, false, 0, routing, Activation.SILU)))
        .contains("2 of 8 a token, feed-forward 1,536\n");
    assertThat(facts(new ExpertConfig(64, 6, 128, 256, false, 1, routing, Activation.SILU)))
        .contains(
            "6 of 64 a token, feed-forward 128, and one of 256 that all share, from layer 2 on");
  }

  private static String facts(ExpertConfig experts) {
    RopeSettings rope =
        new RopeSettings(RopeLayout.INTERLEAVED, 10_000, 64, new RopeFrequencies.Unscaled(), 1);
    return facts(
        RopePattern.uniform(rope),
        WindowPattern.FULL,
        Scales.NONE,
        Optional.of(experts),
        Optional.empty());
  }

  @Test
  void latentsAreDescribedWithWhatTheyReplace() {
    LatentConfig latent = new LatentConfig(512, 64, 128, 128, 0, 1e-6f);
    RopePattern ropes = RopePattern.uniform(PLAIN);
    assertThat(facts(ropes, WindowPattern.FULL, Scales.NONE, Optional.empty(), Optional.of(latent)))
        .containsPattern(
            "latents +a latent of 512 channels and 64 rotary ones; 576 values a token and"
                + " layer instead of 1,280\\R");
    assertThat(facts(ropes, WindowPattern.FULL, Scales.NONE)).doesNotContain("latent");
  }

  private static String facts(RopePattern ropes, WindowPattern windows, Scales scales) {
    return facts(ropes, windows, scales, Optional.empty(), Optional.empty());
  }

  private static String facts(
      RopePattern ropes,
      WindowPattern windows,
      Scales scales,
      Optional<ExpertConfig> experts,
      Optional<LatentConfig> latent) {
    ModelConfig config =
        new ModelConfig(
            "some",
            Architecture.GEMMA2,
            LAYERS,
            64,
            64,
            4,
            2,
            64,
            64,
            100,
            4096,
            1e-6f,
            ropes,
            windows,
            scales,
            experts,
            latent,
            ModelConfig.OutputWeights.EMBEDDING);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ModelFacts.describe(
        config, new FactSheet(new PrintStream(out, true, StandardCharsets.UTF_8), false));
    return out.toString(StandardCharsets.UTF_8);
  }
}
