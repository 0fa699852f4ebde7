package dev.kvasir.bench;

import dev.kvasir.Generation.Drafts;
import dev.kvasir.GenerationListener;
import dev.kvasir.SamplingOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Drafter;
import dev.kvasir.engine.GenerationParams;
import dev.kvasir.engine.NgramDrafter;
import dev.kvasir.engine.Request;
import dev.kvasir.engine.Scheduler;
import dev.kvasir.error.OptionValue;
import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.model.HostEngine;
import dev.kvasir.runtime.DraftModel;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.sampling.TokenConstraint;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Message;
import dev.kvasir.text.Tokenizer;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Compares decoding with and without speculation. */
@Command(
    name = "speculate",
    description = {
      "Measure decoding speed with and without speculation, in turns; medians and ratios of tokens"
          + " per second, and per second of processor time, which other load disturbs less.",
      "The model is made to write given answers, or with --free its own. The command fails if a"
          + " text differs from the one without speculation."
    },
    footer = {
      "  kvasir bench speculate",
      "  kvasir bench speculate --model 1.5b.gguf --draft 0.5b.gguf --free"
    })
final class SpeculateBench implements Callable<Integer> {
  /** Tokens that each kind generates before it is measured. */
  private static final int WARM_UP_TOKENS = 16;

  private final PrintStream out;
  private final PrintStream err;

  @Mixin private BenchModelArguments model;

  @Option(
      names = "--draft",
      paramLabel = "FILE",
      description = "A draft model with the same vocabulary, measured too.")
  private Path draft;

  @Option(
      names = "--kv",
      paramLabel = "SPEC",
      defaultValue = "fp16",
      description = "The KV cache (default: ${DEFAULT-VALUE}).")
  private String kv;

  @Option(
      names = "--tokens",
      paramLabel = "N",
      defaultValue = "256",
      description = "Maximum tokens of an answer (default: ${DEFAULT-VALUE}).")
  private int tokens;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "5",
      description = "Turns of each kind (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--free",
      description = "Let the model write its own answers, the likeliest tokens.")
  private boolean free;

  private HostEngine engine;
  private Tokenizer tokenizer;
  private CacheSpec spec;

  SpeculateBench(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  /** The figures of one answer. */
  private record Figures(
      int[] answer, double tokensPerSecond, double tokensPerCpuSecond, Drafts drafts) {}

  /** Notes the processor time at the end of the prompt. */
  private static final class PromptEnd implements GenerationListener {
    private double cpuSeconds;

    @Override
    public void text(String piece) {}

    @Override
    public void promptProgress(int tokensDone, int tokensInAll) {
      cpuSeconds = CpuTime.now().all();
    }
  }

  /** Forces a text, token by token. */
  private static final class Script implements TokenConstraint {
    private final int[] answer;
    private int next;

    Script(int[] answer) {
      this.answer = answer;
    }

    @Override
    public void mask(float[] logits, int at, int vocabulary) {
      int wanted = answer[Math.min(next, answer.length - 1)];
      for (int i = 0; i < vocabulary; i++) {
        logits[at + i] = i == wanted ? 0 : Float.NEGATIVE_INFINITY;
      }
    }

    @Override
    public void accept(int token) {
      next++;
    }
  }

  @Override
  public Integer call() {
    OptionValue.atLeastOne("--tokens", tokens);
    OptionValue.atLeastOne("--rounds", rounds);
    model.check();
    spec = CacheSpec.parse(kv);
    int threadCount = model.threadCount();
    GgufFile file = model.openGguf();
    tokenizer = Tokenizer.ofGguf(file.name(), file.metadata());
    try (WorkerPool workers = new WorkerPool(threadCount);
        HostEngine loaded = BenchModelArguments.engine(file, workers)) {
      engine = loaded;
      EngineOptions options = EngineOptions.defaults().withThreads(threadCount);
      try (DraftModel draftModel =
          draft == null ? null : DraftModel.load(draft, options, file.name(), engine, tokenizer)) {
        out.printf(
            Locale.ROOT,
            "%s, %d threads, KV cache %s, %s%n",
            engine.config().name(),
            threadCount,
            spec,
            KernelChoice.ofThisProcess().kernels().name());
        out.printf(
            "%-18s %8s %10s %6s %6s  %s%n",
            "", "", "tokens/s", "ratio", "CPU", "accepted of proposed");
        measure(draftModel);
      }
    } finally {
      tokenizer.close();
    }
    return 0;
  }

  private void measure(DraftModel draftModel) {
    Map<String, Supplier<Drafter>> kinds = new LinkedHashMap<>();
    kinds.put("off", () -> null);
    kinds.put("ngram", NgramDrafter::new);
    if (draftModel != null) {
      kinds.put("model", () -> draftModel.newDrafter(engine.config().contextLength()));
    }
    List<SpeculationTask> tasks =
        List.of(SpeculationTask.edit(), SpeculationTask.summary(), SpeculationTask.noise());
    kinds.values().forEach(kind -> answer(tasks.getFirst(), kind.get(), WARM_UP_TOKENS));
    for (SpeculationTask task : tasks) {
      Map<String, List<Figures>> figures = new LinkedHashMap<>();
      for (int round = 0; round < rounds; round++) {
        err.printf("%s: round %d of %d%n", task.name(), round + 1, rounds);
        for (Map.Entry<String, Supplier<Drafter>> kind : kinds.entrySet()) {
          figures
              .computeIfAbsent(kind.getKey(), any -> new ArrayList<>())
              .add(answer(task, kind.getValue().get(), tokens));
        }
      }
      print(task, figures);
      out.flush();
    }
  }

  private Figures answer(SpeculationTask task, Drafter drafter, int maxTokens) {
    int context = engine.config().contextLength();
    try (KvCache cache = engine.newCache(spec, Optional.empty(), context);
        Drafter closed = drafter) {
      Request request =
          new Request(cache, context, cache.defersPrompts(), tokenizer.endOfText(), closed);
      for (int token : prompt(task)) {
        request.append(token);
      }
      int begin = request.length();
      int[] script = tokenizer.encode(task.answer(), false);
      Sampler sampler =
          new Sampler(
              SamplingOptions.greedy(),
              free ? TokenConstraint.NONE : new Script(script),
              OptionalInt.empty());
      int max = free ? maxTokens : Math.min(maxTokens, script.length);
      Scheduler scheduler = new Scheduler(engine);
      PromptEnd promptEnd = new PromptEnd();
      scheduler.run(
          request, new GenerationParams(sampler, tokenizer.stream(true), max, null), promptEnd);
      double cpuSeconds = CpuTime.now().all() - promptEnd.cpuSeconds;
      double seconds = (System.nanoTime() - request.promptDone()) / 1e9;
      int[] answer = new int[request.generated()];
      Arrays.setAll(answer, i -> request.token(begin + i));
      return new Figures(
          answer, answer.length / seconds, answer.length / cpuSeconds, request.drafts());
    }
  }

  /** Returns the prompt in the model's chat template if its own answers are wanted. */
  private int[] prompt(SpeculationTask task) {
    if (!free || tokenizer.chatTemplate().isEmpty()) {
      return tokenizer.encode(task.prompt() + "\n\n", true);
    }
    ChatTemplate template =
        ChatTemplate.of(tokenizer.chatTemplate().get(), "the chat template", tokenizer);
    List<Message> messages = List.of(new Message("user", task.prompt()));
    return tokenizer.encodePrompt(template.render(messages, true));
  }

  private void print(SpeculationTask task, Map<String, List<Figures>> figures) {
    List<Figures> plain = figures.get("off");
    figures.forEach(
        (kind, own) -> {
          for (Figures each : own) {
            if (!Arrays.equals(each.answer(), plain.getFirst().answer())) {
              throw new IllegalStateException(
                  "the answer to '%s' with %s differs".formatted(task.name(), kind));
            }
          }
          double[] ratios = new double[own.size()];
          Arrays.setAll(ratios, i -> own.get(i).tokensPerSecond() / plain.get(i).tokensPerSecond());
          out.printf(
              Locale.ROOT,
              "%-18s %8s %10.2f %6.2f %6.2f  %d of %d, %d tokens%n",
              task.name(),
              kind,
              median(own.stream().mapToDouble(Figures::tokensPerSecond).toArray()),
              medianRatio(own, plain, Figures::tokensPerSecond),
              medianRatio(own, plain, Figures::tokensPerCpuSecond),
              own.getFirst().drafts().acceptedTokens(),
              own.getFirst().drafts().proposedTokens(),
              own.getFirst().answer().length);
        });
  }

  private static double medianRatio(
      List<Figures> own, List<Figures> plain, ToDoubleFunction<Figures> figure) {
    double[] ratios = new double[own.size()];
    Arrays.setAll(
        ratios, i -> figure.applyAsDouble(own.get(i)) / figure.applyAsDouble(plain.get(i)));
    return median(ratios);
  }

  private static double median(double[] numbers) {
    double[] sorted = numbers.clone();
    Arrays.sort(sorted);
    return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
  }
}
