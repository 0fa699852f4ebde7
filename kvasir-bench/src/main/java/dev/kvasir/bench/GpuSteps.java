package dev.kvasir.bench;

import dev.kvasir.Model;
import dev.kvasir.cuda.CudaEngine;
import dev.kvasir.cuda.CudaProvider;
import dev.kvasir.cuda.Device;
import dev.kvasir.cuda.DeviceCache;
import dev.kvasir.cuda.PageKind;
import dev.kvasir.engine.Batch;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.model.Architecture;
import dev.kvasir.model.EngineProvider;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.model.WindowPattern;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Whole steps of a decoder on a device, a token for each sequence: from tokens to the likeliest
 * next ones, the host's share included.
 *
 * @param batch sequences
 * @param tokens that each has before
 * @param bundled the bundled model; else one of Llama 8B's sizes with random weights
 */
record GpuSteps(int batch, int tokens, boolean bundled) {
  private static final Pattern TYPED = Pattern.compile("(\\d{1,4})x(\\d{1,7}):(8b|bundled)");
  private static final int WARM_UPS = 4;

  /** As typed: {@code 32x8192:8b}. */
  static GpuSteps parse(String text) {
    Matcher typed = TYPED.matcher(text);
    if (!typed.matches() || Integer.parseInt(typed.group(1)) < 1) {
      throw new InvalidInputException(
          "--steps has '%s'; expected BATCHxTOKENS:8b or BATCHxTOKENS:bundled".formatted(text));
    }
    return new GpuSteps(
        Integer.parseInt(typed.group(1)),
        Integer.parseInt(typed.group(2)),
        typed.group(3).equals("bundled"));
  }

  /** The model with its weights on a device. */
  CudaEngine open(Device device) {
    if (!bundled) {
      return CudaEngine.random(device, llama8b());
    }
    try (GgufFile file = Model.openBundled()) {
      return (CudaEngine)
          new CudaProvider()
              .open(
                  new EngineProvider.Request(
                      file, ModelConfig.of(file), List.of(), Long.MAX_VALUE, (done, inAll) -> {}));
    }
  }

  /** Microseconds of a step, the median of some. */
  double micros(CudaEngine engine, PageKind kind, int rounds) {
    double[] micros = new double[rounds];
    withSequences(
        engine,
        kind,
        sequences -> {
          for (int round = -WARM_UPS; round < rounds; round++) {
            long begin = System.nanoTime();
            step(engine, sequences);
            if (round >= 0) {
              micros[round] = (System.nanoTime() - begin) / 1e3;
            }
          }
        });
    return Race.median(micros);
  }

  /** Microseconds of a step's kernels by their kind, each waited for; medians. */
  Map<String, Double> parts(CudaEngine engine, PageKind kind, int rounds) {
    Map<String, double[]> all = new LinkedHashMap<>();
    withSequences(
        engine,
        kind,
        sequences -> {
          for (int round = -WARM_UPS; round < rounds; round++) {
            Batch batch = batch(sequences);
            int at = round;
            engine
                .partsOf(batch)
                .forEach(
                    (part, micros) -> {
                      if (at >= 0) {
                        all.computeIfAbsent(part, any -> new double[rounds])[at] = micros;
                      }
                    });
            batch.settle();
          }
        });
    Map<String, Double> medians = new LinkedHashMap<>();
    all.forEach((part, micros) -> medians.put(part, Race.median(micros)));
    return medians;
  }

  private void withSequences(
      CudaEngine engine, PageKind kind, Consumer<List<DeviceCache>> measured) {
    List<DeviceCache> sequences = new ArrayList<>();
    try {
      for (int i = 0; i < batch; i++) {
        sequences.add(engine.newCache(kind));
        sequences.getLast().pretend(tokens);
      }
      engine.scramble();
      measured.accept(sequences);
    } finally {
      sequences.forEach(DeviceCache::close);
    }
  }

  private static void step(CudaEngine engine, List<DeviceCache> sequences) {
    engine.forward(batch(sequences));
  }

  /** A row of each, of whose logits the likeliest token suffices. */
  private static Batch batch(List<DeviceCache> sequences) {
    Batch batch = new Batch();
    for (DeviceCache sequence : sequences) {
      batch.letLikeliestSuffice(batch.add(sequence, 0, true));
    }
    return batch;
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
            RopeLayout.NEIGHBOURS, 500_000, 128, new RopeFrequencies.Plain()),
        WindowPattern.FULL,
        ModelConfig.OutputWeights.OWN);
  }

  /** The same with as many sequences as a number of bytes holds, window and all. */
  GpuSteps filling(CudaEngine engine, PageKind kind, long bytes, int steps) {
    try (DeviceCache one = engine.newCache(kind)) {
      one.pretend(tokens + steps);
      return new GpuSteps((int) (bytes / one.bytes().total()), tokens, bundled);
    }
  }

  @Override
  public String toString() {
    return "%dx%d:%s".formatted(batch, tokens, bundled ? "bundled" : "8b");
  }
}
