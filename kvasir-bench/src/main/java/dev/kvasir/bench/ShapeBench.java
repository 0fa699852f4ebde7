package dev.kvasir.bench;

import dev.kvasir.error.OptionValue;
import dev.kvasir.format.AtomicFile;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Writes a model file for benchmarks. */
@Command(
    name = "shape",
    description = {
      "Write a model with random weights of a known shape, to measure with.",
      "It has the bundled model's tokenizer and says nothing sensible; speed and bytes are those of"
          + " real weights."
    },
    footer = {
      "  kvasir bench shape --like llama-8b --layers 4 --out /tmp/8b-4.gguf",
      "  kvasir bench decode --model /tmp/8b-4.gguf --context 8192"
    })
final class ShapeBench implements Callable<Integer> {
  private final PrintStream out;
  private final PrintStream err;

  @Option(
      names = "--like",
      defaultValue = "llama-8b",
      paramLabel = "SHAPE",
      description = {
        "llama-8b, llama-3b, tinyllama, moe-1b, moe-30b-a3b, dense-a3b, which has as many",
        "  weights as a token of moe-30b-a3b passes, or the hybrids granite-h-1b and",
        "  qwen3.5-0.8b (default: ${DEFAULT-VALUE})."
      })
  private String like;

  @Option(
      names = "--layers",
      defaultValue = "4",
      paramLabel = "N",
      description = "Layers that are written (default: ${DEFAULT-VALUE}).")
  private int layers;

  @Option(
      names = "--type",
      defaultValue = "q8_0",
      paramLabel = "TYPE",
      description = "q8_0, q4_k, q6_k, f16 or bf16 (default: ${DEFAULT-VALUE}).")
  private String type;

  @Option(names = "--out", required = true, paramLabel = "FILE", description = "Where it goes.")
  private Path file;

  ShapeBench(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  @Override
  public Integer call() {
    ModelPreset shape = ModelPreset.of(like);
    OptionValue.atLeastOne("--layers", layers);
    RandomWeightType weights = RandomWeightType.of(type);
    AtomicFile.checkWritable(file);
    RandomModelFile.write(file, shape, layers, weights, this::report);
    out.printf("%s: %s, %d layers, %s%n", file, shape.typed(), layers, type);
    return 0;
  }

  /** Prints a line for each layer. */
  private void report(int done, int inAll) {
    if (done % 9 == 0 || done == inAll) {
      err.printf("%d of %d tensors are written%n", done, inAll);
    }
  }
}
