package dev.kvasir.bench;

import dev.kvasir.Model;
import dev.kvasir.cuda.CudaEngine;
import dev.kvasir.cuda.CudaProvider;
import dev.kvasir.cuda.Device;
import dev.kvasir.cuda.DeviceCache;
import dev.kvasir.cuda.DeviceCacheConfig;
import dev.kvasir.engine.Batch;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufFile;
import dev.kvasir.model.Architecture;
import dev.kvasir.model.EngineProvider;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.model.WindowPattern;
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
 * Whole steps of a decoder on a device, a token for each sequence or a part of a prompt: from
 * tokens to the likeliest next ones, the host's share included.
 *
 * @param batch sequences
 * @param tokens that each has before
 * @param rows of each sequence in a step
 * @param random the type of random weights of Llama 8B's sizes; empty for the bundled model
 */
record GpuSteps(int batch, int tokens, int rows, Optional<GgmlType> random) {
  private static final Pattern TYPED =
      Pattern.compile("(\\d{1,4})x(\\d{1,7}):(?:bundled|8b(-\\w+)?)");

  /** Until the host's share is compiled: as many steps, or as many as take so long. */
  private static final int WARM_UPS = 40;

  private static final long WARM_UP_NANOS = 4_000_000_000L;

  /** As typed: {@code 32x8192:8b}, {@code 1x512:8b-q4_k}, {@code 64x8192:bundled}. */
  static GpuSteps parse(String text, int rows) {
    Matcher typed = TYPED.matcher(text);
    if (!typed.matches() || Integer.parseInt(typed.group(1)) < 1) {
      throw new InvalidInputException(
          "--steps has '%s'; expected BATCHxTOKENS:8b, BATCHxTOKENS:8b-TYPE or BATCHxTOKENS:bundled"
              .formatted(text));
    }
    return new GpuSteps(
        Integer.parseInt(typed.group(1)),
        Integer.parseInt(typed.group(2)),
        rows,
        text.endsWith("bundled") ? Optional.empty() : Optional.of(type(text, typed.group(3))));
  }

  /** Of weights; Q8_0 where none is typed. */
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

  /** The model with its weights on a device. */
  CudaEngine open(Device device) {
    if (random.isPresent()) {
      return CudaEngine.random(device, llama8b(), random.get());
    }
    try (GgufFile file = Model.openBundled()) {
      return (CudaEngine)
          new CudaProvider()
              .open(
                  new EngineProvider.LoadRequest(
                      file, ModelConfig.of(file), List.of(), Long.MAX_VALUE, (done, inAll) -> {}));
    }
  }

  /** Microseconds of a step, the median of some. */
  double micros(CudaEngine engine, DeviceCacheConfig cacheConfig, int rounds) {
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
    return Race.median(micros);
  }

  /** Microseconds of a step's kernels by their kind, each waited for; medians. */
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

  private void withSequences(
      CudaEngine engine, DeviceCacheConfig cacheConfig, Consumer<List<DeviceCache>> measured) {
    List<DeviceCache> sequences = new ArrayList<>();
    try {
      for (int i = 0; i < batch; i++) {
        sequences.add(engine.newCache(cacheConfig));
        sequences.getLast().appendDummy(tokens);
      }
      engine.fillRandom();
      measured.accept(sequences);
    } finally {
      sequences.forEach(DeviceCache::close);
    }
  }

  private static void warmUp(Runnable step) {
    long begin = System.nanoTime();
    for (int i = 0; i < WARM_UPS && System.nanoTime() - begin < WARM_UP_NANOS; i++) {
      step.run();
    }
  }

  private Map<String, Double> stepInParts(CudaEngine engine, List<DeviceCache> sequences) {
    Batch step = batch(sequences);
    Map<String, Double> micros = engine.profileStep(step);
    end(step, sequences);
    return micros;
  }

  private void step(CudaEngine engine, List<DeviceCache> sequences) {
    Batch step = batch(sequences);
    engine.step(step);
    end(step, sequences);
  }

  /** Single tokens stay, as they do in texts; a part of a prompt is read again. */
  private void end(Batch step, List<DeviceCache> sequences) {
    step.requireNoFailure();
    if (rows == 1) {
      step.quantizeWindow();
    } else {
      sequences.forEach(sequence -> sequence.truncate(tokens));
    }
  }

  /** Rows of each, of whose last logits the likeliest token suffices. */
  private Batch batch(List<DeviceCache> sequences) {
    Batch step = new Batch();
    for (DeviceCache sequence : sequences) {
      for (int row = 1; row < rows; row++) {
        step.add(sequence, 0, false);
      }
      step.requestArgmaxOnly(step.add(sequence, 0, true));
    }
    return step;
  }

  private static ModelConfig llama8b() {
    return new ModelConfig(
        "random weights of Llama 8B's sizes",
        Architecture.LLAMA,
        32,
        4096,
        14336,
        32,
        8,
        128,
        128,
        128256,
        131072,
        1e-5f,
        new ModelConfig.RopeSettings(
            RopeLayout.INTERLEAVED, 500_000, 128, new RopeFrequencies.Unscaled()),
        WindowPattern.FULL,
        ModelConfig.OutputWeights.OWN);
  }

  /** The same with as many sequences as a number of bytes holds, window and all. */
  GpuSteps filling(CudaEngine engine, DeviceCacheConfig cacheConfig, long bytes, int steps) {
    try (DeviceCache one = engine.newCache(cacheConfig)) {
      one.appendDummy(tokens + steps);
      return new GpuSteps((int) (bytes / one.bytes().total()), tokens, rows, random);
    }
  }

  @Override
  public String toString() {
    String model = random.map(GpuSteps::sizes).orElse("bundled");
    return rows == 1
        ? "%dx%d:%s".formatted(batch, tokens, model)
        : "%dx%d+%d:%s".formatted(batch, tokens, rows, model);
  }

  private static String sizes(GgmlType type) {
    return type == GgmlType.Q8_0 ? "8b" : "8b-" + type.name().toLowerCase(Locale.ROOT);
  }
}
