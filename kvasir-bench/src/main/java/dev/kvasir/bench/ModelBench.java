package dev.kvasir.bench;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.DeviceArguments;
import dev.kvasir.cli.arguments.ModelLocation;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Compares Kvasir with llama.cpp on one model. */
@Command(
    name = "model",
    description = {
      "Measure prompt and generation speed beside llama.cpp, and the garbage of a token.",
      "Both read the same prompt and generate after it, always the likeliest token; they take turns, "
          + "and the medians are shown. llama.cpp is the one inside de.kherud:llama; GGUF files only."
    },
    footer = {
      "  kvasir bench model",
      "  kvasir bench model --model model.gguf --prompt-tokens 256 --rounds 3"
    })
final class ModelBench implements Callable<Integer> {
  private static final String BUNDLED = "/dev/kvasir/mini/kvasir-mini-q8_0.gguf";

  private final PrintStream out;
  private final PrintStream err;

  @Option(
      names = {"-m", "--model"},
      paramLabel = "FILE",
      description = "A GGUF file; without it, the bundled model.")
  private ModelLocation model;

  @Option(
      names = "--threads",
      defaultValue = "0",
      paramLabel = "N",
      description = "Threads of each contender; all processors unless given.")
  private int threads;

  @Option(
      names = "--prompt-tokens",
      defaultValue = "512",
      paramLabel = "N",
      description = "Length of the prompt that is read (default: ${DEFAULT-VALUE}).")
  private int promptTokens;

  @Option(
      names = "--tokens",
      defaultValue = "128",
      paramLabel = "N",
      description = "Tokens generated, after a prompt of 16 (default: ${DEFAULT-VALUE}).")
  private int tokens;

  @Option(
      names = "--warm-ups",
      defaultValue = "4",
      paramLabel = "N",
      description = "Turns before, which are not counted (default: ${DEFAULT-VALUE}).")
  private int warmUps;

  @Option(
      names = "--rounds",
      defaultValue = "7",
      paramLabel = "N",
      description = "Turns of each contender (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Mixin private DeviceArguments device;

  @Option(names = "--alone", description = "Leave llama.cpp out.")
  private boolean alone;

  ModelBench(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  @Override
  public Integer call() throws IOException {
    check("--prompt-tokens", promptTokens, 16);
    check("--tokens", tokens, 1);
    check("--warm-ups", warmUps, 0);
    check("--rounds", rounds, 1);
    check("--threads", threads, 0);
    int threadCount = BenchModelArguments.threadCount(threads);
    EngineOptions options =
        EngineOptions.defaults()
            .withThreads(threadCount)
            .withDevice(device.choice(List.of(CacheSpec.DEFAULT)));
    Path copied = model == null ? copyOfBundled() : null;
    Path file = model == null ? copied : model.path();
    try (LoadedModel loaded = LoadedModel.load(file, options)) {
      checkContext(loaded);
      race(loaded, file, threadCount);
    } finally {
      if (copied != null) {
        Files.delete(copied);
      }
    }
    return 0;
  }

  private static void check(String option, int value, int least) {
    if (value < least) {
      throw new InvalidInputException(
          "%s is %d; expected at least %d".formatted(option, value, least));
    }
  }

  private void checkContext(LoadedModel loaded) {
    int most = loaded.config().contextLength();
    if (promptTokens + tokens + 1 > most) {
      throw new InvalidInputException(
          "--prompt-tokens and --tokens make %d; the model's context holds %d"
              .formatted(promptTokens + tokens, most));
    }
  }

  private void race(LoadedModel loaded, Path file, int threadCount) {
    BenchPrompt longPrompt = BenchPrompt.of(loaded.tokenizer(), promptTokens);
    BenchPrompt shortPrompt = BenchPrompt.of(loaded.tokenizer(), 16);
    List<BenchEngine> prefillEngines = new ArrayList<>();
    List<BenchEngine> decodeEngines = new ArrayList<>();
    KvasirBenchEngine writer = new KvasirBenchEngine(loaded, shortPrompt.ids());
    try {
      prefillEngines.add(new KvasirBenchEngine(loaded, longPrompt.ids()));
      decodeEngines.add(writer);
      if (!alone) {
        LlamaCppBenchEngine llama =
            new LlamaCppBenchEngine(file, threadCount, promptTokens + tokens + 64);
        prefillEngines.add(llama.withPrompt(longPrompt.text()));
        decodeEngines.add(llama.withPrompt(shortPrompt.text()));
      }
      Race race = new Race(longPrompt.ids().length, tokens, warmUps, rounds);
      List<Race.Speed> speeds =
          race.run(
              prefillEngines,
              decodeEngines,
              round -> err.printf("round %d of %d%n", round, rounds));
      print(loaded, threadCount, speeds, garbage(writer));
    } finally {
      prefillEngines.forEach(BenchEngine::close);
      decodeEngines.forEach(BenchEngine::close);
    }
  }

  private void print(
      LoadedModel loaded, int threadCount, List<Race.Speed> speeds, long garbageBytes) {
    BenchModelArguments.describe(out, loaded, threadCount);
    out.printf(Locale.ROOT, "%-10s  %18s  %18s%n", "", "prompt tokens/s", "generated tokens/s");
    for (Race.Speed speed : speeds) {
      out.printf(
          Locale.ROOT, "%-10s  %18.0f  %18.0f%n", speed.name(), speed.prompt(), speed.generation());
    }
    if (speeds.size() == 2) {
      out.printf(
          Locale.ROOT,
          "%-10s  %18.2f  %18.2f%n",
          "ratio",
          speeds.get(0).prompt() / speeds.get(1).prompt(),
          speeds.get(0).generation() / speeds.get(1).generation());
    }
    out.printf(Locale.ROOT, "garbage of a generated token: %d bytes%n", garbageBytes);
  }

  /** Returns the heap bytes per token that the generating thread allocates once compiled. */
  private long garbage(KvasirBenchEngine writer) {
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    writer.generate(tokens);
    return (threads.getCurrentThreadAllocatedBytes() - before) / tokens;
  }

  /** Copies the bundled model, because llama.cpp reads files and not resources. */
  private static Path copyOfBundled() {
    try (InputStream stream = LoadedModel.class.getResourceAsStream(BUNDLED)) {
      Path copy = Files.createTempFile("kvasir-mini", ".gguf");
      Files.copy(stream, copy, StandardCopyOption.REPLACE_EXISTING);
      return copy;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
