package dev.kvasir.bench;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.ModelLocation;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.kernel.KernelChoice;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures the latency of a fresh process. */
@Command(
    name = "start",
    description = {
      "Measure a fresh process: its start, a prompt, and the first tokens.",
      "Each turn is a process of its own, with the options of this one. Shown are medians: from"
          + " the start of the process until the model is loaded and until the first token, the"
          + " speed of the prompt, and the speed of the first 16 tokens beside that of 64 later"
          + " ones."
    },
    footer = {"  kvasir bench start", "  kvasir bench start --prompt-tokens 8857 --kv fp16,kivi:2"})
final class StartBench implements Callable<Integer> {
  private final PrintStream out;
  private final PrintStream err;

  @Option(
      names = {"-m", "--model"},
      paramLabel = "MODEL",
      description = "A model, by path or name; without it, the bundled one.")
  private ModelLocation model;

  @Option(
      names = "--prompt-tokens",
      defaultValue = "16",
      split = ",",
      paramLabel = "N",
      description = "Lengths of the prompt (default: ${DEFAULT-VALUE}).")
  private int[] promptTokens;

  @Option(
      names = "--kv",
      defaultValue = "fp16",
      paramLabel = "SPECS",
      description =
          "Kinds of cache, separated by commas or semicolons (default: ${DEFAULT-VALUE}).")
  private String kinds;

  @Option(
      names = "--rounds",
      defaultValue = "3",
      paramLabel = "N",
      description = "Processes of each kind (default: ${DEFAULT-VALUE}).")
  private int rounds;

  StartBench(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  /** Seconds from the start of a process, and tokens per second. */
  private record ProcessRun(
      double loaded, double answered, double prompt, double first, double steady) {}

  @Override
  public Integer call() {
    List<CacheSpec> specs = DecodeBench.specs(kinds);
    OptionValue.atLeastOne("--rounds", rounds);
    for (int tokens : promptTokens) {
      OptionValue.atLeastOne("--prompt-tokens", tokens);
    }
    out.printf(
        "%s, Java %s, %s%n",
        KernelChoice.ofThisProcess().kernels().name(),
        Runtime.version(),
        System.getProperty("os.arch"));
    out.printf(
        "%8s  %-16s %8s %12s %10s %12s %10s %6s%n",
        "prompt", "cache", "loaded", "first token", "prompt/s", "first 16/s", "steady/s", "ratio");
    for (int tokens : promptTokens) {
      for (CacheSpec spec : specs) {
        print(tokens, spec, measure(tokens, spec));
      }
    }
    return 0;
  }

  private List<ProcessRun> measure(int tokens, CacheSpec spec) {
    List<ProcessRun> runs = new ArrayList<>();
    for (int round = 0; round < rounds; round++) {
      runs.add(runProcess(tokens, spec));
      err.printf("%s after %d tokens, process %d of %d%n", spec, tokens, round + 1, rounds);
    }
    return runs;
  }

  private void print(int tokens, CacheSpec spec, List<ProcessRun> runs) {
    double first = Race.median(runs.stream().mapToDouble(ProcessRun::first).toArray());
    double steady = Race.median(runs.stream().mapToDouble(ProcessRun::steady).toArray());
    out.printf(
        Locale.ROOT,
        "%8d  %-16s %6.2f s %10.2f s %10.0f %12.0f %10.0f %6.2f%n",
        tokens,
        spec,
        Race.median(runs.stream().mapToDouble(ProcessRun::loaded).toArray()),
        Race.median(runs.stream().mapToDouble(ProcessRun::answered).toArray()),
        Race.median(runs.stream().mapToDouble(ProcessRun::prompt).toArray()),
        first,
        steady,
        first / steady);
  }

  private ProcessRun runProcess(int tokens, CacheSpec spec) {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElse("java"));
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(StartProbe.class.getName(), Integer.toString(tokens), spec.toString()));
    if (model != null) {
      command.add(model.path().toString());
    }
    try {
      long start = System.nanoTime();
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      return read(process, start, tokens);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ProcessRun read(Process process, long start, int tokens) throws IOException {
    double loaded = 0;
    double prompted = 0;
    double answered = 0;
    double first = 0;
    try (BufferedReader lines = process.inputReader()) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        double seconds = (System.nanoTime() - start) / 1e9;
        String[] words = line.split(" ");
        switch (words[0]) {
          case "loaded" -> loaded = seconds;
          case "prompted" -> prompted = seconds;
          case "answered" -> answered = seconds;
          case "first" -> first = Double.parseDouble(words[1]);
          case "steady" -> {
            double prompt = tokens / (answered - prompted);
            double promptCreation =
                prompted - loaded; // creating the prompt, which no user waits for
            double steady = Double.parseDouble(words[1]);
            return new ProcessRun(loaded, answered - promptCreation, prompt, first, steady);
          }
          default -> {}
        }
      }
    }
    throw new InvalidInputException(
        "a process ended before it had generated; try it with 'generate'");
  }
}
