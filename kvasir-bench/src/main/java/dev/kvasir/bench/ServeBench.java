package dev.kvasir.bench;

import dev.kvasir.LoadOptions.Device;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cli.arguments.DeviceArguments;
import dev.kvasir.cli.arguments.ModelLocation;
import dev.kvasir.cli.serve.CarrierThreads;
import dev.kvasir.engine.StepListener;
import dev.kvasir.error.OptionValue;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.memory.ByteCount;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import dev.kvasir.server.KvasirServer;
import dev.kvasir.server.ServerOptions;
import dev.kvasir.server.watch.ServerLog;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures the server under load: throughput, correct answers, latencies and capacity. */
@Command(
    name = "serve",
    description = {
      "Measure the server with many clients at once.",
      "Clients stream greedy answers over HTTP from a server in this process, and every text is"
          + " compared with the one that the library gives alone. Then one stream runs while long"
          + " prompts arrive, with what its longest gaps were filled with; the process's memory is"
          + " told before, in between and after; and sessions are opened until memory is full."
    },
    footer = {
      "  kvasir bench serve --kv kivi:2 --clients 1,8,64 --seconds 60",
      "  kvasir bench serve --mixed --clients 256 --seconds 3600"
    })
final class ServeBench implements Callable<Integer> {
  private static final int PROMPTS = 16;
  private static final int LONG_PROMPTS = 8;

  /** Tokens of the stream while it runs alone. */
  private static final int BASELINE_TOKENS = 400;

  private final PrintStream out;
  private final PrintStream err;

  @Option(
      names = {"-m", "--model"},
      paramLabel = "MODEL",
      description = "A model, by path or name; without it, the bundled one.")
  private ModelLocation model;

  @Mixin private DeviceArguments device;

  @Option(
      names = "--kv",
      defaultValue = "kivi:2",
      paramLabel = "SPEC",
      description = "Kind of cache that clients are served with (default: ${DEFAULT-VALUE}).")
  private String kind;

  @Option(
      names = "--fit",
      defaultValue = "fp16;kivi:4;kivi:2;commvq:1",
      paramLabel = "SPECS",
      description = "Kinds to fill memory with (default: ${DEFAULT-VALUE}).")
  private String fitting;

  @Option(
      names = "--clients",
      defaultValue = "1,8,64",
      split = ",",
      paramLabel = "N",
      description = "Clients at once, one run each (default: ${DEFAULT-VALUE}).")
  private int[] clients;

  @Option(
      names = "--seconds",
      defaultValue = "60",
      paramLabel = "N",
      description = "Of each run (default: ${DEFAULT-VALUE}).")
  private int seconds;

  @Option(
      names = "--tokens",
      defaultValue = "96",
      paramLabel = "N",
      description = "Tokens of an answer (default: ${DEFAULT-VALUE}).")
  private int tokens;

  @Option(
      names = "--session-tokens",
      defaultValue = "8192",
      paramLabel = "N",
      description = "Of sessions that memory is filled with (default: ${DEFAULT-VALUE}).")
  private int sessionTokens;

  @Option(
      names = "--mixed",
      description = {
        "Instead of all that: prompts from 64 to --session-tokens tokens by the last number of",
        "  --clients against --kv-memory, for --seconds. Every text must be the one alone."
      })
  private boolean mixed;

  @Option(
      names = "--kv-memory",
      defaultValue = "256MiB",
      paramLabel = "SIZE",
      description = "Budget of --mixed (default: ${DEFAULT-VALUE}).")
  private String memory;

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description = {
        "Write what the process did while the long prompts were read, a line each: what, begin and",
        "  end in ns, rows of streams, rows of prompts, tokens of the first stream."
      })
  private Path traceFile;

  ServeBench(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  @Override
  public Integer call() throws Exception {
    CarrierThreads.raise();
    CacheSpec spec = CacheSpec.parse(kind);
    List<CacheSpec> fits = DecodeBench.specs(fitting);
    OptionValue.atLeastOne("--seconds", seconds);
    OptionValue.atLeast("--tokens", tokens, 2);
    if (traceFile != null) {
      AtomicFile.checkWritable(traceFile);
    }
    if (mixed) {
      return mixedLoad(spec);
    }
    int most = Math.max(1, Arrays.stream(clients).max().orElse(1));
    try (LoadedModel loaded = load(Long.MAX_VALUE)) {
      out.printf(
          Locale.ROOT,
          "%s, %s, %s, Java %s, %s, %d processors%n",
          loaded.config().name(),
          spec,
          KernelChoice.ofThisProcess().kernels().name(),
          Runtime.version(),
          System.getProperty("os.arch"),
          Runtime.getRuntime().availableProcessors());
      ServerOptions options =
          ServerOptions.defaults()
              .withAddress("127.0.0.1", 0)
              .withCacheSpecs(List.of(spec))
              .withConcurrency(most + LONG_PROMPTS, most);
      try (KvasirServer server = KvasirServer.start(loaded, options, new ServerLog(err))) {
        StreamClient client = new StreamClient(server.port());
        memory("at the start", loaded);
        measureThroughput(loaded, spec, client);
        gaps(loaded, client);
        memory("at the end", loaded);
      }
    }
    fill(fits);
    return 0;
  }

  private int mixedLoad(CacheSpec spec) throws Exception {
    try (LoadedModel loaded = load(ByteCount.parse("--kv-memory", memory))) {
      int count = Math.max(1, clients[clients.length - 1]);
      boolean right =
          new MixedLoad(loaded, spec, tokens, out, err).run(count, seconds, sessionTokens);
      return right ? 0 : 1;
    }
  }

  private LoadedModel load(long bytes) {
    EngineOptions options =
        EngineOptions.defaults().withCacheBytes(bytes).withDevice(device.choice(cacheSpecs()));
    return model == null ? LoadedModel.bundled(options) : LoadedModel.load(model.path(), options);
  }

  private void memory(String when, LoadedModel loaded) {
    ProcessMemory now = ProcessMemory.now(loaded.weightBytes(), loaded.cacheMemory().usedBytes());
    out.printf("memory %s: %s%n", when, now.text());
  }

  /** Returns texts of several lengths, some with a common prefix. */
  private static List<int[]> prompts(LoadedModel loaded) {
    List<int[]> prompts = new ArrayList<>();
    int[] records = BenchPrompt.of(loaded.tokenizer(), 1200).ids();
    for (int i = 0; i < PROMPTS; i++) {
      int[] prompt = Arrays.copyOf(records, 64 + 70 * i);
      prompt[prompt.length - 1 - i] = records[i];
      prompts.add(prompt);
    }
    return prompts;
  }

  private void measureThroughput(LoadedModel loaded, CacheSpec spec, StreamClient client)
      throws Exception {
    List<int[]> prompts = prompts(loaded);
    Map<Integer, String> alone = new ConcurrentHashMap<>();
    for (int i = 0; i < prompts.size(); i++) {
      alone.put(i, referenceText(loaded, spec, prompts.get(i)));
    }
    out.printf(
        "%8s %10s %8s %8s %8s %12s %12s %14s%n",
        "clients", "tokens/s", "answers", "errors", "mixed", "first ms", "gap ms", "KV bytes");
    for (int count : clients) {
      runClients(loaded, client, prompts, alone, count);
    }
    memory("after the crowds", loaded);
  }

  private String referenceText(LoadedModel loaded, CacheSpec spec, int[] prompt) {
    try (ModelSession session = loaded.newSession(SessionOptions.builder().cache(spec).build())) {
      GenerationSettings greedy = GenerationSettings.greedy().withMaxTokens(tokens);
      return session.generate(prompt, greedy, piece -> {}).text();
    }
  }

  private void runClients(
      LoadedModel loaded,
      StreamClient client,
      List<int[]> prompts,
      Map<Integer, String> alone,
      int count)
      throws Exception {
    err.printf("%d clients for %d s%n", count, seconds);
    long begin = System.nanoTime();
    long end = begin + seconds * 1_000_000_000L;
    LongAdder pieces = new LongAdder();
    LongAdder answers = new LongAdder();
    LongAdder errors = new LongAdder();
    LongAdder mismatches = new LongAdder();
    List<Double> firsts = Collections.synchronizedList(new ArrayList<>());
    List<Double> gaps = Collections.synchronizedList(new ArrayList<>());
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        int first = i;
        all.add(
            threads.submit(
                () -> {
                  for (int turn = first; System.nanoTime() < end; turn++) {
                    int which = turn % prompts.size();
                    StreamClient.StreamOutcome outcome =
                        client.complete(prompts.get(which), tokens, () -> false);
                    pieces.add(outcome.arrivals().stream().filter(at -> at < end).count());
                    answers.increment();
                    errors.add(outcome.error() == null ? 0 : 1);
                    boolean wrong =
                        outcome.error() == null && !outcome.text().equals(alone.get(which));
                    mismatches.add(wrong ? 1 : 0);
                    firsts.add(outcome.firstTokenMillis());
                    Arrays.stream(outcome.gapMillis()).forEach(gaps::add);
                  }
                  return null;
                }));
      }
      for (Future<?> one : all) {
        one.get();
      }
    }
    out.printf(
        Locale.ROOT,
        "%8d %10.0f %8d %8d %8d %12.1f %12.2f %,14d%n",
        count,
        pieces.sum() * 1e9 / (end - begin),
        answers.sum(),
        errors.sum(),
        mismatches.sum(),
        median(firsts),
        median(gaps),
        loaded.cacheMemory().usedBytes());
    out.flush();
  }

  private static double median(List<Double> values) {
    return Race.median(values.stream().mapToDouble(Double::doubleValue).toArray());
  }

  /** Measures the gaps of one stream while long prompts arrive. */
  private void gaps(LoadedModel loaded, StreamClient client) throws Exception {
    int length = Math.min(sessionTokens, loaded.config().contextLength() - 64);
    AtomicBoolean allRead = new AtomicBoolean();
    int[] start = Arrays.copyOf(prompts(loaded).getFirst(), 64);
    List<String> longPrompts = longPrompts(loaded, length);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        StreamTrace trace = new StreamTrace()) {
      loaded.setStepListener(trace);
      err.println("one stream, then long prompts beside it");
      long earlyBegin = System.nanoTime();
      double[] usual = client.complete(start, BASELINE_TOKENS, () -> false).gapMillis();
      long earlyEnd = System.nanoTime();
      Future<StreamClient.StreamOutcome> stream =
          threads.submit(
              () -> client.complete(start, loaded.config().contextLength() - 100, allRead::get));
      Thread.sleep(500);
      CpuTime begin = CpuTime.now();
      long arrived = System.nanoTime();
      List<Future<StreamClient.StreamOutcome>> readers = new ArrayList<>();
      for (String prompt : longPrompts) {
        readers.add(threads.submit(() -> client.complete(prompt, () -> false)));
      }
      double[] firsts = new double[LONG_PROMPTS];
      for (int i = 0; i < LONG_PROMPTS; i++) {
        firsts[i] = readers.get(i).get().firstTokenMillis() / 1e3;
      }
      long readEnd = System.nanoTime();
      double read = (readEnd - arrived) / 1e9;
      CpuTime spent = CpuTime.now().since(begin);
      allRead.set(true);
      List<Long> all = stream.get().arrivals();
      List<Long> concurrent = all.stream().filter(at -> at >= arrived).toList();
      int before = start.length + all.size() - concurrent.size();
      long lateBegin = System.nanoTime();
      BaselineGap baseline = usual(loaded, client, usual, start.length + all.size());
      loaded.setStepListener(StepListener.NONE);
      out.printf(
          Locale.ROOT,
          "gap between tokens of a stream: alone %.2f ms at the beginning (the slowest of %d %.1f"
              + " times that), %.2f after %d tokens; while %d prompts of %d tokens are read"
              + " (%.0f s):%n",
          baseline.early(),
          usual.length,
          Arrays.stream(usual).max().orElse(0) / baseline.early(),
          baseline.late(),
          baseline.lateTokens(),
          LONG_PROMPTS,
          length,
          read);
      List<StreamTrace.TraceEvent> events = trace.events();
      BaselineGap processorTime =
          new BaselineGap(
              baseline.earlyTokens(),
              GapReport.medianProcessorMillis(earlyBegin, earlyEnd, events),
              baseline.lateTokens(),
              GapReport.medianProcessorMillis(lateBegin, Long.MAX_VALUE, events));
      GapReport atClient = GapReport.of(baseline, before, concurrent, events);
      GapReport.inScheduler(baseline, arrived, all.getLast(), events)
          .printTimes("in the server's loop", out);
      GapReport.inProcessorTime(processorTime, arrived, all.getLast(), events)
          .printTimes("in the server's loop by processor time", out);
      atClient.printTimes("at the client", out);
      atClient.printCauses(out);
      if (all.getLast() < readEnd - 1_000_000_000) {
        out.printf(
            Locale.ROOT,
            "  the stream ended %.0f s before the last prompt was read, after %d tokens%n",
            (readEnd - all.getLast()) / 1e9,
            start.length + all.size());
      }
      out.printf("  meanwhile: %s%n", spent.text());
      out.printf(
          Locale.ROOT,
          "  first tokens of those prompts after %.1f s (median), %.1f s (last)%n",
          Race.median(firsts),
          Arrays.stream(firsts).max().orElse(0));
      if (traceFile != null) {
        Files.write(traceFile, trace.lines(arrived));
      }
    }
  }

  /** Creates requests before the measurement: clients seldom share the server's processors. */
  private static List<String> longPrompts(LoadedModel loaded, int length) {
    List<String> prompts = new ArrayList<>();
    int[] ids = BenchPrompt.of(loaded.tokenizer(), length).ids();
    for (int i = 0; i < LONG_PROMPTS; i++) {
      int[] prompt = ids.clone();
      prompt[0] = 400 + i; // no prefix in common with the others
      prompts.add(StreamClient.body(prompt, 2));
    }
    return prompts;
  }

  /** Measures the baseline gap for a stream of this length. */
  private static BaselineGap usual(
      LoadedModel loaded, StreamClient client, double[] early, int tokens) throws Exception {
    int requested = BASELINE_TOKENS / 4;
    int length = Math.min(tokens, loaded.config().contextLength() - requested);
    int[] past = BenchPrompt.of(loaded.tokenizer(), length).ids();
    double[] late = client.complete(past, requested, () -> false).gapMillis();
    return new BaselineGap(BASELINE_TOKENS / 2, Race.median(early), length, Race.median(late));
  }

  /** Opens sessions of one length until memory is exhausted. */
  private void fill(List<CacheSpec> specs) {
    long bytes;
    try (LoadedModel loaded = load(Long.MAX_VALUE);
        KvCache one = filled(loaded, CacheSpec.DEFAULT, 1)) {
      bytes = 2 * one.bytes().total() + (1 << 20);
    }
    out.printf("%-24s %10s %8s%n", "cache", "sessions", "times");
    int first = 0;
    for (CacheSpec spec : specs) {
      int count = 0;
      try (LoadedModel loaded = load(bytes + tables(spec))) {
        List<KvCache> caches = new ArrayList<>();
        try {
          while (true) {
            caches.add(filled(loaded, spec, caches.size()));
          }
        } catch (CacheFullException e) {
          count = caches.size();
        } finally {
          caches.forEach(KvCache::close);
        }
      }
      first = first == 0 ? count : first;
      out.printf(
          Locale.ROOT, "%-24s %10d %8.1f%n", spec, count, count / (double) Math.max(1, first));
    }
    out.printf(
        "of %d tokens each, in %,d bytes beside tables of the model's own%n", sessionTokens, bytes);
  }

  private long tables(CacheSpec spec) {
    try (LoadedModel loaded = load(Long.MAX_VALUE)) {
      return loaded.sharedCacheBytes(spec);
    }
  }

  private List<CacheSpec> cacheSpecs() {
    return Stream.concat(Stream.of(CacheSpec.parse(kind)), DecodeBench.specs(fitting).stream())
        .toList();
  }

  private KvCache filled(LoadedModel loaded, CacheSpec spec, int seed) {
    err.printf("%s, session %d%n", spec, seed + 1);
    KvCache cache = loaded.newCache(spec);
    try {
      return device.choice(List.of()).device().equals(Device.CPU)
          ? RandomKv.fill(
              cache, loaded.config().cacheShape(), loaded.config().queryHeads(), sessionTokens)
          : RandomKv.read(loaded, cache, sessionTokens);
    } catch (RuntimeException e) {
      cache.close();
      throw e;
    }
  }
}
