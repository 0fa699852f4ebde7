package dev.kvasir.bench;

import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import dev.kvasir.server.KvasirServer;
import dev.kvasir.server.ServerOptions;
import dev.kvasir.server.watch.ServerLog;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Many clients with prompts from 64 tokens to the longest against a memory budget. Every answer
 * must be the text that the library gives alone.
 */
final class MixedLoad {
  private static final int SHORTEST = 64;

  /** Prompts of each length, half of which share their beginning with the next longer one. */
  private static final int VARIANTS = 2;

  private static final int REPORTS = 10;

  private final LoadedModel loaded;
  private final CacheSpec spec;
  private final int tokens;
  private final PrintStream out;
  private final PrintStream err;
  private final List<int[]> prompts = new ArrayList<>();
  private final List<String> alone = new ArrayList<>();
  private final LongAdder answers = new LongAdder();
  private final LongAdder errors = new LongAdder();
  private final LongAdder mixed = new LongAdder();

  /**
   * @param tokens of an answer
   */
  MixedLoad(LoadedModel loaded, CacheSpec spec, int tokens, PrintStream out, PrintStream err) {
    this.loaded = loaded;
    this.spec = spec;
    this.tokens = tokens;
    this.out = out;
    this.err = err;
  }

  /** Runs the clients; returns whether every answer was right. */
  boolean run(int clients, int seconds, int longest) throws Exception {
    prepare(Math.min(longest, loaded.config().contextLength() - tokens - 1));
    ServerOptions options =
        ServerOptions.defaults()
            .withAddress("127.0.0.1", 0)
            .withCacheSpecs(List.of(spec))
            .withConcurrency(ServerOptions.defaults().maxSequences(), clients)
            .withLimits(ServerOptions.defaults().maxBodyBytes(), timeout(seconds));
    try (LiveHeap heap = new LiveHeap();
        KvasirServer server = KvasirServer.start(loaded, options, new ServerLog(err));
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      StreamClient client = new StreamClient(server.port());
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        int first = i;
        all.add(threads.submit(() -> ask(client, first, end)));
      }
      for (int i = 1; i <= REPORTS; i++) {
        long next = end - TimeUnit.SECONDS.toNanos(seconds) * (REPORTS - i) / REPORTS;
        TimeUnit.NANOSECONDS.sleep(next - System.nanoTime());
        report(heap);
      }
      for (Future<?> one : all) {
        one.get();
      }
      report(heap);
    }
    return answers.sum() > 0 && errors.sum() == 0 && mixed.sum() == 0;
  }

  /** A slow machine is no error: with many clients, most of a completion's time is waiting. */
  private static Duration timeout(int seconds) {
    return ServerOptions.defaults().timeout().plusSeconds(2L * seconds);
  }

  private void prepare(int longest) {
    int[] ids = BenchPrompt.of(loaded.tokenizer(), longest).ids();
    for (int length = SHORTEST; prompts.isEmpty() || length < 2 * longest; length *= 2) {
      for (int variant = 0; variant < VARIANTS; variant++) {
        int[] prompt = Arrays.copyOf(ids, Math.min(length, longest));
        prompt[0] += variant;
        err.printf("the text of a prompt of %d tokens alone%n", prompt.length);
        prompts.add(prompt);
        alone.add(answerAlone(prompt));
      }
    }
  }

  private String answerAlone(int[] prompt) {
    try (ModelSession session = loaded.newSession(SessionOptions.builder().cache(spec).build())) {
      GenerationSettings greedy = GenerationSettings.greedy().withMaxTokens(tokens);
      return session.generate(prompt, greedy, piece -> {}).text();
    }
  }

  /** Short prompts are as frequent as long ones; clients begin with different ones. */
  private Void ask(StreamClient client, int first, long end) throws Exception {
    for (int turn = first; System.nanoTime() < end; turn++) {
      int which = turn % prompts.size();
      StreamClient.StreamOutcome outcome = client.complete(prompts.get(which), tokens, () -> false);
      answers.increment();
      if (outcome.error() != null) {
        errors.increment();
        err.println("error: " + outcome.error());
      } else if (!outcome.text().equals(alone.get(which))) {
        mixed.increment();
        err.printf("another text after %d tokens%n", prompts.get(which).length);
      }
    }
    return null;
  }

  private void report(LiveHeap heap) {
    ProcessMemory memory =
        ProcessMemory.now(loaded.weightBytes(), loaded.cacheMemory().usedBytes());
    out.printf(
        Locale.ROOT,
        "%,d answers, %d errors, %d mixed, KV peak %,d of %,d bytes; memory %s; %s live%n",
        answers.sum(),
        errors.sum(),
        mixed.sum(),
        loaded.cacheMemory().peakBytes(),
        loaded.cacheMemory().limit(),
        memory.text(),
        liveText(heap.takeBytes()));
    out.flush();
  }

  private static String liveText(OptionalLong bytes) {
    return bytes.isPresent()
        ? ProcessMemory.mebibytes(bytes.getAsLong())
        : "unknown (no collection)";
  }
}
