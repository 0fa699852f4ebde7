package dev.kvasir.bench;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.engine.Request;
import dev.kvasir.error.OptionValue;
import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.model.HostEngine;
import dev.kvasir.text.Tokenizer;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Estimates what drafts by the same model with a narrow KV cache would gain (QuantSpec). */
@Command(
    name = "narrow-draft",
    description = {
      "Estimate the gain of drafts by the same model with a narrower KV cache.",
      "Measures how often the likeliest token is the same with both caches, and the time of a draft"
          + " step and of the step that verifies a draft; then computes the speed from them."
    },
    footer = {"  kvasir bench narrow-draft --kv fp16 --draft kivi:2 --context 8192"})
final class NarrowDraftBench implements Callable<Integer> {
  private static final int[] DRAFTS = {1, 2, 3, 5, 7};

  /** Repetitions of a step that verifies a draft. */
  private static final int REPEATS = 24;

  private final PrintStream out;
  private final PrintStream err;
  private final Batch batch = new Batch();

  @Mixin private BenchModelArguments model;

  @Option(
      names = "--kv",
      paramLabel = "SPEC",
      defaultValue = "fp16",
      description = "The KV cache of the text (default: ${DEFAULT-VALUE}).")
  private String kv;

  @Option(
      names = "--draft",
      paramLabel = "SPEC",
      defaultValue = "kivi:2",
      description = "The KV cache of drafts (default: ${DEFAULT-VALUE}).")
  private String draft;

  @Option(
      names = "--context",
      paramLabel = "N",
      defaultValue = "8192",
      description = "Tokens before the first generated one (default: ${DEFAULT-VALUE}).")
  private int context;

  @Option(
      names = "--tokens",
      paramLabel = "N",
      defaultValue = "256",
      description = "Generated tokens, the likeliest ones (default: ${DEFAULT-VALUE}).")
  private int tokens;

  @Option(
      names = "--text",
      paramLabel = "FILE",
      description = "The context, repeated if it is shorter; without it, lines of records.")
  private Path text;

  private HostEngine engine;

  NarrowDraftBench(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  @Override
  public Integer call() throws Exception {
    OptionValue.atLeastOne("--tokens", tokens);
    model.check();
    CacheSpec ownSpec = CacheSpec.parse(kv);
    CacheSpec draftSpec = CacheSpec.parse(draft);
    GgufFile file = model.openGguf();
    int[] prompt;
    try (Tokenizer tokenizer = Tokenizer.ofGguf(file.name(), file.metadata())) {
      prompt = prompt(tokenizer);
    }
    try (WorkerPool workers = new WorkerPool(model.threadCount());
        HostEngine loaded = BenchModelArguments.engine(file, workers)) {
      engine = loaded;
      int limit = engine.config().contextLength();
      OptionValue.between("--context", context, 1, limit - tokens - 1);
      out.printf(
          Locale.ROOT,
          "%s, %d threads, %s%n",
          engine.config().name(),
          model.threadCount(),
          KernelChoice.ofThisProcess().kernels().name());
      try (KvCache own = engine.newCache(ownSpec, Optional.empty(), limit);
          KvCache narrow = engine.newCache(draftSpec, Optional.empty(), limit)) {
        err.println("reading the context with both caches");
        read(own, prompt);
        int next = read(narrow, prompt);
        measure(own, narrow, next);
      }
    }
    return 0;
  }

  private int[] prompt(Tokenizer tokenizer) throws Exception {
    if (text == null) {
      return BenchPrompt.of(tokenizer, context).ids();
    }
    int[] ids = tokenizer.encode(Files.readString(text, StandardCharsets.UTF_8));
    int[] prompt = new int[context];
    Arrays.setAll(prompt, i -> ids[i % ids.length]);
    return prompt;
  }

  /** Reads a prompt and returns the likeliest token after it. */
  private int read(KvCache cache, int[] prompt) {
    for (int from = 0; from < prompt.length; from += Request.PREFILL_STEP) {
      batch.clear();
      int end = Math.min(prompt.length, from + Request.PREFILL_STEP);
      for (int i = from; i < end; i++) {
        batch.add(cache, prompt[i], i == prompt.length - 1);
      }
      engine.forward(batch);
    }
    return likeliest(0);
  }

  private int likeliest(int index) {
    int at = batch.logitsAt(index);
    int best = 0;
    for (int i = 1; i < batch.vocabulary(); i++) {
      best = batch.logits()[at + i] > batch.logits()[at + best] ? i : best;
    }
    return best;
  }

  private void measure(KvCache own, KvCache narrow, int first) {
    boolean[] agrees = new boolean[tokens];
    double[] ownMillis = new double[tokens];
    double[] narrowMillis = new double[tokens];
    int token = first;
    for (int i = 0; i < tokens; i++) {
      narrowMillis[i] = step(narrow, token);
      int drafted = likeliest(0);
      ownMillis[i] = step(own, token);
      token = likeliest(0);
      agrees[i] = drafted == token;
    }
    double ownUsual = lowerQuartile(ownMillis);
    double narrowUsual = lowerQuartile(narrowMillis);
    int equal = 0;
    for (boolean one : agrees) {
      equal += one ? 1 : 0;
    }
    out.printf(
        Locale.ROOT,
        "%s, drafts with %s, after %d tokens: %.1f%% of %d tokens agree; a step %.2f ms, a draft"
            + " step %.2f ms (%.2f)%n",
        kv,
        draft,
        context,
        100.0 * equal / tokens,
        tokens,
        ownUsual,
        narrowUsual,
        narrowUsual / ownUsual);
    out.printf("%6s %18s %14s %8s%n", "draft", "tokens per round", "verify, steps", "speed");
    for (int count : DRAFTS) {
      if (count <= own.draftCapacity() && count < own.nextQuantization() - own.length()) {
        print(count, perRound(agrees, count), verify(own, token, count), ownUsual, narrowUsual);
      }
    }
  }

  private void print(int count, double tokensPerRound, double verify, double own, double narrow) {
    out.printf(
        Locale.ROOT,
        "%6d %18.2f %14.2f %8.2f%n",
        count,
        tokensPerRound,
        verify / own,
        tokensPerRound * own / (count * narrow + verify));
  }

  /** Computes a token and returns the milliseconds. */
  private double step(KvCache cache, int token) {
    batch.clear();
    batch.add(cache, token, true);
    long begin = System.nanoTime();
    engine.step(batch);
    double millis = (System.nanoTime() - begin) / 1e6;
    batch.requireNoFailure();
    batch.quantizeWindow();
    return millis;
  }

  /** Returns the milliseconds of a step over a token and a draft, which is dropped again. */
  private double verify(KvCache own, int token, int count) {
    double[] millis = new double[REPEATS];
    for (int repeat = 0; repeat < REPEATS; repeat++) {
      batch.clear();
      batch.beginDraft(own);
      for (int i = 0; i <= count; i++) {
        batch.add(own, token, true);
      }
      long begin = System.nanoTime();
      engine.step(batch);
      millis[repeat] = (System.nanoTime() - begin) / 1e6;
      batch.requireNoFailure();
      own.endDraft();
    }
    return lowerQuartile(millis);
  }

  /** Returns the mean tokens of a round that drafts so many: those that agree, and one more. */
  static double perRound(boolean[] agrees, int count) {
    int rounds = 0;
    for (int i = 0; i < agrees.length; rounds++) {
      int accepted = 0;
      while (accepted < count && i + accepted < agrees.length && agrees[i + accepted]) {
        accepted++;
      }
      i += accepted + 1;
    }
    return agrees.length / (double) rounds;
  }

  /** Other load on the machine makes some steps longer, and none shorter. */
  private static double lowerQuartile(double[] millis) {
    double[] sorted = millis.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 4];
  }
}
