package dev.kvasir.bench;

import dev.kvasir.cuda.driver.Device;
import dev.kvasir.cuda.engine.CudaEngine;
import dev.kvasir.cuda.engine.CudaProvider;
import dev.kvasir.cuda.engine.DeviceCache;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.engine.Batch;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufFile;
import dev.kvasir.lab.eval.Estimate;
import dev.kvasir.model.Architecture;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.model.RopePattern;
import dev.kvasir.model.Scales;
import dev.kvasir.model.WindowPattern;
import dev.kvasir.runtime.BundledFiles;
import dev.kvasir.spi.EngineProvider;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Whole decoder steps on a device, with one token for each sequence or a chunk of a prompt. A step
 * goes from tokens to the greedy next tokens, including the work on the host.
 *
 * @param batch sequences
 * @param tokens in each sequence's cache before the step
 * @param rows of each sequence in a step
 * @param random sizes and weights of a random model; empty for the bundled model
 */
record GpuSteps(int batch, int tokens, int rows, Optional<RandomSteps> random) {
  private static final Pattern TYPED =
      Pattern.compile("(\\d{1,4})x(\\d{1,7}):(?:bundled|(8b|0\\.5b)(-\\w+)?)");

  /** Time of steps until the host code is compiled: the first kind would look slower otherwise. */
  private static final long COMPILATION_NANOS = 1_500_000_000L;

  /** Steps, or time, until sequences have their workspaces and steps their graphs. */
  private static final int WARM_UPS = 40;

  private static final long WARM_UP_NANOS = 4_000_000_000L;

  /**
   * A model with random weights.
   *
   * @param sizes {@code 8b} for those of Llama 8B, {@code 0.5b} for those of Qwen 2.5 0.5B
   */
  record RandomSteps(String sizes, GgmlType type) {
    ModelConfig config() {
      return sizes.equals("8b")
          ? GpuSteps.config(32, 4096, 14336, 32, 8, 128, 128_256)
          : GpuSteps.config(24, 896, 4864, 14, 2, 64, 151_936);
    }

    @Override
    public String toString() {
      return type == GgmlType.Q8_0 ? sizes : sizes + "-" + type.name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * The sequences of a step.
   *
   * @param step used for all steps, as a scheduler does
   */
  private record Sequences(List<DeviceCache> caches, Batch step) {
    /** Fills the step; the last row of each sequence needs only its likeliest token. */
    void fill(int rows) {
      step.clear();
      for (DeviceCache cache : caches) {
        for (int row = 1; row < rows; row++) {
          step.add(cache, 0, false);
        }
        step.requestArgmaxOnly(step.add(cache, 0, true));
      }
    }
  }

  /** Parses {@code 32x8192:8b}, {@code 1x512:8b-q4_k} or {@code 64x8192:bundled}. */
  static GpuSteps parse(String text, int rows) {
    Matcher typed = TYPED.matcher(text);
    if (!typed.matches() || Integer.parseInt(typed.group(1)) < 1) {
      throw new InvalidInputException(
          ("--steps has '%s'; expected BATCHxTOKENS:8b, BATCHxTOKENS:0.5b, either with -TYPE, or"
                  + " BATCHxTOKENS:bundled")
              .formatted(text));
    }
    return new GpuSteps(
        Integer.parseInt(typed.group(1)),
        Integer.parseInt(typed.group(2)),
        rows,
        Optional.ofNullable(typed.group(3))
            .map(sizes -> new RandomSteps(sizes, type(text, typed.group(4)))));
  }

  /** Returns the weight type; Q8_0 by default. */
  private static GgmlType type(String text, String typed) {
    String name = typed == null ? "Q8_0" : typed.substring(1).toUpperCase(Locale.ROOT);
    return Arrays.stream(GgmlType.values())
        .filter(type -> type.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "--steps has '%s'; expected a type of weights such as Q4_K, found %s"
                        .formatted(text, name)));
  }

  /** Loads the model's weights onto a device. */
  CudaEngine open(Device device) {
    if (random.isPresent()) {
      return CudaEngine.random(device, random.get().config(), random.get().type());
    }
    try (GgufFile file = BundledFiles.open()) {
      return (CudaEngine)
          new CudaProvider()
              .open(
                  new EngineProvider.LoadRequest(
                      file, ModelConfig.of(file), List.of(), Long.MAX_VALUE, (done, inAll) -> {}));
    }
  }

  /** Returns the median microseconds of a step, and their spread. */
  Estimate micros(CudaEngine engine, DeviceCacheConfig cacheConfig, int rounds) {
    compileHostCode(engine, cacheConfig);
    double[] micros = new double[rounds];
    withSequences(
        engine,
        cacheConfig,
        sequences -> {
          warmUp(() -> step(engine, sequences));
          for (int round = 0; round < rounds; round++) {
            long begin = System.nanoTime();
            step(engine, sequences);
            micros[round] = (System.nanoTime() - begin) / 1e3;
          }
        });
    return Race.spread(micros);
  }

  /** Returns the median microseconds of a step's kernels by kind, waiting for each. */
  Map<String, Double> parts(CudaEngine engine, DeviceCacheConfig cacheConfig, int rounds) {
    Map<String, double[]> all = new LinkedHashMap<>();
    withSequences(
        engine,
        cacheConfig,
        sequences -> {
          warmUp(() -> stepInParts(engine, sequences));
          for (int round = 0; round < rounds; round++) {
            int at = round;
            stepInParts(engine, sequences)
                .forEach(
                    (part, micros) ->
                        all.computeIfAbsent(part, any -> new double[rounds])[at] = micros);
          }
        });
    Map<String, Double> medians = new LinkedHashMap<>();
    all.forEach((part, micros) -> medians.put(part, Race.median(micros)));
    return medians;
  }

  /**
   * Returns the median microseconds of quantizing one sequence's tokens at once, as at the end of a
   * prompt that is prefilled exactly.
   */
  double quantizationMicros(CudaEngine engine, DeviceCacheConfig cacheConfig, int rounds) {
    double[] micros = new double[rounds];
    for (int round = -1; round < rounds; round++) {
      try (DeviceCache sequence = engine.newCache(cacheConfig)) {
        sequence.reserve(tokens);
        sequence.commit(tokens);
        engine.fillRandom();
        engine.synchronize();
        long begin = System.nanoTime();
        sequence.quantizeWindow();
        engine.synchronize();
        if (round >= 0) {
          micros[round] = (System.nanoTime() - begin) / 1e3;
        }
      }
    }
    return Race.median(micros);
  }

  private void withSequences(
      CudaEngine engine, DeviceCacheConfig cacheConfig, Consumer<Sequences> measured) {
    List<DeviceCache> caches = new ArrayList<>();
    try {
      for (int i = 0; i < batch; i++) {
        caches.add(engine.newCache(cacheConfig));
        caches.getLast().appendDummy(tokens);
      }
      engine.fillRandom();
      measured.accept(new Sequences(caches, new Batch()));
    } finally {
      caches.forEach(DeviceCache::close);
    }
  }

  /**
   * Runs steps of other sequences, since those that are measured must not grow by so many tokens.
   */
  private void compileHostCode(CudaEngine engine, DeviceCacheConfig cacheConfig) {
    long begin = System.nanoTime();
    while (System.nanoTime() - begin < COMPILATION_NANOS) {
      withSequences(engine, cacheConfig, sequences -> warmUp(() -> step(engine, sequences)));
    }
  }

  private static void warmUp(Runnable step) {
    long begin = System.nanoTime();
    for (int i = 0; i < WARM_UPS && System.nanoTime() - begin < WARM_UP_NANOS; i++) {
      step.run();
    }
  }

  private Map<String, Double> stepInParts(CudaEngine engine, Sequences sequences) {
    sequences.fill(rows);
    Map<String, Double> micros = engine.profileStep(sequences.step());
    end(sequences);
    return micros;
  }

  private void step(CudaEngine engine, Sequences sequences) {
    sequences.fill(rows);
    engine.step(sequences.step());
    end(sequences);
  }

  /** Ends a step. Single tokens stay in the cache as in real use; a prompt chunk is removed. */
  private void end(Sequences sequences) {
    sequences.step().requireNoFailure();
    if (rows == 1) {
      sequences.step().quantizeWindow();
    } else {
      sequences.caches().forEach(cache -> cache.truncate(tokens));
    }
  }

  private static ModelConfig config(
      int layers,
      int hidden,
      int feedForward,
      int queryHeads,
      int kvHeads,
      int headDim,
      int vocabulary) {
    return new ModelConfig(
        "random weights",
        Architecture.LLAMA,
        layers,
        hidden,
        feedForward,
        queryHeads,
        kvHeads,
        headDim,
        headDim,
        vocabulary,
        131072,
        1e-5f,
        RopePattern.uniform(
            new ModelConfig.RopeSettings(
                RopeLayout.INTERLEAVED, 500_000, headDim, new RopeFrequencies.Unscaled())),
        WindowPattern.FULL,
        Scales.NONE,
        Optional.empty(),
        Optional.empty(),
        ModelConfig.OutputWeights.OWN);
  }

  /** Returns steps with as many sequences as fit in {@code bytes}, residual window included. */
  GpuSteps filling(CudaEngine engine, DeviceCacheConfig cacheConfig, long bytes, int steps) {
    try (DeviceCache one = engine.newCache(cacheConfig)) {
      one.appendDummy(tokens + steps);
      return new GpuSteps((int) (bytes / one.bytes().total()), tokens, rows, random);
    }
  }

  @Override
  public String toString() {
    String model = random.map(RandomSteps::toString).orElse("bundled");
    return rows == 1
        ? "%dx%d:%s".formatted(batch, tokens, model)
        : "%dx%d+%d:%s".formatted(batch, tokens, rows, model);
  }
}
