package dev.kvasir.bench;

import dev.kvasir.Model;
import dev.kvasir.cuda.Device;
import dev.kvasir.cuda.DeviceDecoder;
import dev.kvasir.cuda.DeviceSequence;
import dev.kvasir.cuda.PageFormat;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.model.Architecture;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.model.WindowPattern;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

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
  private static final int WINDOW = 128;

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

  /** Microseconds of a step, the median of some. */
  double micros(Device device, PageFormat format, int rounds) {
    try (DeviceDecoder decoder = decoder(device, format, rounds + WARM_UPS)) {
      List<DeviceSequence> sequences =
          IntStream.range(0, batch).mapToObj(i -> decoder.newSequence()).toList();
      sequences.forEach(sequence -> sequence.pretend(tokens));
      int[] next = new int[batch];
      double[] micros = new double[rounds];
      for (int round = -WARM_UPS; round < rounds; round++) {
        long begin = System.nanoTime();
        decoder.step(sequences, next, next);
        if (round >= 0) {
          micros[round] = (System.nanoTime() - begin) / 1e3;
        }
      }
      return Race.median(micros);
    }
  }

  private DeviceDecoder decoder(Device device, PageFormat format, int steps) {
    DeviceDecoder.Limits limits =
        new DeviceDecoder.Limits(batch, batch, batch * (tokens + steps), WINDOW);
    if (!bundled) {
      return DeviceDecoder.random(device, llama8b(), format, limits);
    }
    try (GgufFile file = Model.openBundled()) {
      return DeviceDecoder.open(device, file, ModelConfig.of(file), format, limits);
    }
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

  @Override
  public String toString() {
    return "%dx%d:%s".formatted(batch, tokens, bundled ? "bundled" : "8b");
  }
}
