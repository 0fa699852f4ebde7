package dev.kvasir.bench;

import dev.kvasir.Generation;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.PrefixCache;
import dev.kvasir.engine.Request;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import dev.kvasir.store.StoreAddress;
import dev.kvasir.store.TieredStore;
import dev.kvasir.store.prefix.StoredPrefixes;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Compares the prefill of a prompt with restoring it. */
@Command(
    name = "restore",
    description = {
      "Measure reading a prompt against restoring it: from memory, a file, a folder of beginnings,"
          + " Redis.",
      "Restoring includes every check, but for what is only opened: a file whose blocks are read"
          + " where they lie is checked before its first token. A cold file is one that the system"
          + " has forgotten, where this user may make it forget."
    },
    footer = {"  kvasir bench restore --tokens 2048,8192 --kv fp16,kivi:2"})
final class RestoreBench implements Callable<Integer> {
  private static final int STEP = Request.PREFILL_STEP;
  private static final Path DROP_CACHES = Path.of("/proc/sys/vm/drop_caches");
  private static final int COLD_ROUNDS = 3;
  private static final Duration TIMEOUT = Duration.ofMinutes(5);

  private final PrintStream out;
  private final PrintStream err;

  @Mixin private BenchModelArguments model;

  @Option(
      names = "--tokens",
      defaultValue = "2048,8192,15104",
      split = ",",
      paramLabel = "N",
      description = {
        "Tokens of prompts, multiples of 256, where every kind can be",
        "  gone on with (default: ${DEFAULT-VALUE})."
      })
  private int[] lengths;

  @Option(
      names = "--kv",
      defaultValue = "fp16,kivi:4,kivi:2,patternkv:2,mixkvq,pmkvq:2,commvq:1,mead:1.5",
      paramLabel = "SPECS",
      description =
          "Kinds of cache, separated by commas or semicolons (default: ${DEFAULT-VALUE}).")
  private String kinds;

  @Option(
      names = "--redis",
      paramLabel = "redis://HOST",
      description = "A server to restore from as well.")
  private String redis;

  @Option(
      names = "--rounds",
      defaultValue = "7",
      paramLabel = "N",
      description = "Times that each is restored (default: ${DEFAULT-VALUE}).")
  private int rounds;

  RestoreBench(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  @Override
  public Integer call() throws IOException {
    List<CacheSpec> specs = DecodeBench.specs(kinds);
    OptionValue.atLeastOne("--rounds", rounds);
    model.check();
    Path folder = Files.createTempDirectory("kvasir-restore");
    try (LoadedModel loaded = model.load()) {
      checkLengths(loaded);
      model.describe(out, loaded);
      out.println("milliseconds; in brackets, how many times as fast as reading");
      out.printf(
          "%7s  %-14s %10s %9s %9s %9s %16s %16s %16s %16s%n",
          "tokens",
          "cache",
          "bytes",
          "read",
          "memory",
          "opened",
          "file",
          "cold file",
          "folder",
          "Redis");
      warmUp(loaded, specs);
      for (int length : lengths) {
        for (CacheSpec spec : specs) {
          new RestoreMeasurement(loaded, spec, length, folder).run();
        }
      }
    } finally {
      delete(folder);
    }
    return 0;
  }

  private void checkLengths(LoadedModel loaded) {
    int most = loaded.config().contextLength() - 2 * STEP;
    for (int length : lengths) {
      if (length < STEP || length > most || length % STEP != 0) {
        throw new InvalidInputException(
            "--tokens is %d; expected a multiple of %d up to %d".formatted(length, STEP, most));
      }
    }
  }

  /** Prefills prompts until kernels and loops are compiled. */
  private void warmUp(LoadedModel loaded, List<CacheSpec> specs) {
    err.println("warming up");
    for (CacheSpec spec : specs) {
      try (ModelSession session = loaded.newSession(SessionOptions.builder().cache(spec).build())) {
        read(session, text(4 * STEP));
      }
    }
  }

  private static int[] text(int length) {
    return new Random(length).ints(length, 300, 4000).toArray();
  }

  private static Generation read(ModelSession session, int[] prompt) {
    return session.generate(prompt, GenerationSettings.greedy().withMaxTokens(1), piece -> {});
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /** One kind of cache at one length. */
  private final class RestoreMeasurement {
    private final LoadedModel loaded;
    private final SessionOptions options;
    private final int[] prompt;
    private final Path folder;

    RestoreMeasurement(LoadedModel loaded, CacheSpec spec, int length, Path folder) {
      this.loaded = loaded;
      this.options = SessionOptions.builder().cache(spec).build();
      this.prompt = text(length);
      this.folder = folder;
    }

    void run() {
      err.printf("%s, %d tokens%n", options.cache(), prompt.length);
      try (ModelSession session = loaded.newSession(options)) {
        double reading = read(session, prompt).promptNanos() * 1e-6;
        Path file = folder.resolve("session");
        session.save(file);
        double memory = median(rounds, () -> session.cache().fork().close());
        double opened = median(rounds, () -> loaded.restore(file).close());
        double warm = median(rounds, () -> restore(file));
        OptionalDouble cold = cold(file);
        OptionalDouble stored = fromStore(session, folder.resolve("store").toString());
        OptionalDouble served = redis == null ? OptionalDouble.empty() : fromStore(session, redis);
        out.printf(
            Locale.ROOT,
            "%7d  %-14s %10d %9.0f %9.2f %9.2f %16s %16s %16s %16s%n",
            prompt.length,
            options.cache(),
            Files.size(file),
            reading,
            memory,
            opened,
            shown(OptionalDouble.of(warm), reading),
            shown(cold, reading),
            shown(stored, reading),
            shown(served, reading));
        out.flush();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Restores a session up to the point where a step could start. */
    private void restore(Path file) {
      try (ModelSession session = loaded.restore(file)) {
        session.cache().reserve(session.cache().length());
      }
    }

    private static String shown(OptionalDouble millis, double reading) {
      return millis.isEmpty()
          ? "-"
          : String.format(
              Locale.ROOT, "%.2f (%.0f)", millis.getAsDouble(), reading / millis.getAsDouble());
    }

    private double median(int count, Runnable work) {
      double[] millis = new double[count];
      Arrays.setAll(millis, any -> millis(work));
      return Race.median(millis);
    }

    private double millis(Runnable work) {
      long begin = System.nanoTime();
      work.run();
      return (System.nanoTime() - begin) * 1e-6;
    }

    private OptionalDouble cold(Path file) {
      if (!Files.isWritable(DROP_CACHES)) {
        return OptionalDouble.empty();
      }
      try {
        double[] millis = new double[COLD_ROUNDS];
        for (int i = 0; i < millis.length; i++) {
          new ProcessBuilder("sync").start().waitFor();
          Files.writeString(DROP_CACHES, "3");
          millis[i] = millis(() -> restore(file));
        }
        return OptionalDouble.of(Race.median(millis));
      } catch (IOException e) {
        return OptionalDouble.empty();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return OptionalDouble.empty();
      }
    }

    /**
     * Measures the whole server path for a text with this prefix. Empty if the store was late once,
     * because it is then suspended for a while.
     */
    private OptionalDouble fromStore(ModelSession session, String address) {
      int limit = Math.min(options.contextLimit(), loaded.config().contextLength());
      PrefixCache.PrefixNamespace namespace =
          new PrefixCache.PrefixNamespace(options.cache().text(), limit, "");
      int[] longer = Arrays.copyOf(prompt, prompt.length + STEP + 1);
      try (TieredStore store =
          TieredStore.open(List.of(StoreAddress.parse(address)), err::println)) {
        try (StoredPrefixes writing = new StoredPrefixes(loaded, store)) {
          writing.store(namespace, prompt, null, session.cache().fork());
          writing.close(TIMEOUT);
        }
        store.flush(TIMEOUT);
        try (StoredPrefixes reading = new StoredPrefixes(loaded, store)) {
          double millis =
              median(rounds, () -> reading.find(namespace, longer, 0).ifPresent(KvCache::close));
          return reading.counts().hits() == rounds
              ? OptionalDouble.of(millis)
              : OptionalDouble.empty();
        }
      }
    }
  }
}
