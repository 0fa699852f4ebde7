package dev.kvasir.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.runtime.LoadedModel;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class ModelBenchTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @Test
  void printsBothSpeedsAndTheGarbageOfAToken() {
    int exitCode =
        commandLine()
            .execute(
                "--alone",
                "--rounds",
                "1",
                "--warm-ups",
                "0",
                "--prompt-tokens",
                "32",
                "--tokens",
                "4");
    assertThat(exitCode).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8))
        .containsPattern("kvasir +\\d+ +\\d+")
        .contains("garbage of a generated token")
        .doesNotContain("llama.cpp");
  }

  @Test
  void refusesMoreTokensThanTheContextHolds() {
    CommandLine command = commandLine();
    Exception[] seen = new Exception[1];
    command.setExecutionExceptionHandler(
        (e, commandLine, parsed) -> {
          seen[0] = e;
          return 2;
        });
    assertThat(command.execute("--alone", "--prompt-tokens", "17000")).isEqualTo(2);
    assertThat(seen[0]).hasMessageContaining("17128").hasMessageContaining("16384");
  }

  @Test
  void aPromptHasJustTheTokensAskedFor() {
    try (LoadedModel model = LoadedModel.bundled()) {
      BenchPrompt prompt = BenchPrompt.of(model.tokenizer(), 100);
      assertThat(prompt.ids()).hasSize(100);
      assertThat(model.tokenizer().encode(prompt.text())).isEqualTo(prompt.ids());
    }
  }

  @Test
  void anEngineGeneratesTheSameEachTime() {
    try (LoadedModel model = LoadedModel.bundled();
        KvasirBenchEngine contender =
            new KvasirBenchEngine(model, BenchPrompt.of(model.tokenizer(), 40).ids())) {
      contender.generate(8);
      long once = contender.characters();
      contender.generate(8);
      assertThat(contender.characters()).isEqualTo(2 * once).isPositive();
    }
  }

  @Test
  void mediansAreInTheMiddle() {
    assertThat(Race.median(new double[] {3, 1, 2})).isEqualTo(2);
    assertThat(Race.median(new double[] {4, 1, 3, 2})).isEqualTo(2.5);
  }

  @Test
  void enginesAlternate() {
    StringBuilder order = new StringBuilder();
    List<BenchEngine> contenders =
        List.of(new Scripted("a", order, 10), new Scripted("b", order, 20));
    List<Race.Speed> speeds = new Race(100, 50, 4, 2).run(contenders, contenders, round -> {});
    assertThat(order.toString()).endsWith("aabbaabb");
    assertThat(speeds.get(0).prompt() / speeds.get(1).prompt()).isEqualTo(2);
  }

  private record Scripted(String name, StringBuilder order, long nanos) implements BenchEngine {
    @Override
    public long prefill() {
      order.append(name);
      return nanos;
    }

    @Override
    public long generate(int tokens) {
      order.append(name);
      return nanos;
    }

    @Override
    public void close() {}
  }

  private CommandLine commandLine() {
    return new CommandLine(
        new ModelBench(
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8)));
  }
}
