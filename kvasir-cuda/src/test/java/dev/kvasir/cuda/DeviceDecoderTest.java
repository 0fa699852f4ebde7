package dev.kvasir.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.HostEngine;
import dev.kvasir.model.ModelConfig;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A whole step on a device against the host's engine, with the bundled model. */
class DeviceDecoderTest {
  private static final int TOKENS = 2000;
  private static final int WINDOW = 128;
  private static final double MOST_DIVERGENCE = 1e-3;

  @ParameterizedTest
  @CsvSource({"FP16, fp16", "KIVI4, 'kivi:4,group=32'", "KIVI2, 'kivi:2,group=32'"})
  void logitsAreTheHostsUpToRounding(PageFormat format, String spec) {
    assumeTrue(Device.refusal().isEmpty(), Device.refusal().orElse(""));
    try (Crew crew = new Crew(Math.min(8, Runtime.getRuntime().availableProcessors()));
        HostEngine host = host(crew);
        KvCache cache = host.newCache(CacheSpec.parse(spec), Optional.empty(), TOKENS + 1);
        GgufFile file = Model.openBundled();
        DeviceDecoder device = decoder(file, format, 1);
        DeviceSequence sequence = device.newSequence()) {
      int vocabulary = host.config().vocabulary();
      float[] found = new float[vocabulary];
      Batch batch = new Batch();
      double divergence = 0;
      double most = 0;
      int token = 11;
      for (int i = 0; i < TOKENS; i++) {
        batch.clear();
        batch.add(cache, token, true);
        host.forward(batch);
        device.step(List.of(sequence), new int[] {token}, found);
        double each = divergence(batch.logits(), found, vocabulary);
        divergence += each / TOKENS;
        most = Math.max(most, each);
        token = sampled(batch.logits(), vocabulary, new Random(i));
      }
      System.out.printf("%s: KL %.2e in the mean, %.2e at the most%n", format, divergence, most);
      assertThat(divergence).isLessThan(MOST_DIVERGENCE);
    }
  }

  @ParameterizedTest
  @CsvSource({"FP16", "KIVI2"})
  void rowsOfAStepComputeAsSingleOnesDo(PageFormat format) {
    assumeTrue(Device.refusal().isEmpty(), Device.refusal().orElse(""));
    try (GgufFile file = Model.openBundled();
        DeviceDecoder device = decoder(file, format, 16);
        DeviceSequence alone = device.newSequence();
        DeviceSequence inParts = device.newSequence();
        DeviceSequence beside = device.newSequence()) {
      int vocabulary = ModelConfig.of(file).vocabulary();
      int[] tokens = new Random(3).ints(420, 0, vocabulary).toArray();
      float[] one = new float[vocabulary];
      for (int token : tokens) {
        device.step(List.of(alone), new int[] {token}, one);
      }
      float[] many = new float[16 * vocabulary];
      int rows = 0;
      for (int at = 0; at < tokens.length; at += rows) {
        // One less each time, with another sequence's row behind.
        rows = Math.min(15 - at % 3, tokens.length - at);
        List<DeviceSequence> sequences = new ArrayList<>(Collections.nCopies(rows, inParts));
        sequences.add(beside);
        int[] step = new int[rows + 1];
        System.arraycopy(tokens, at, step, 0, rows);
        device.step(sequences, step, many);
      }
      float[] last = new float[vocabulary];
      System.arraycopy(many, (rows - 1) * vocabulary, last, 0, vocabulary);
      // Blocks are packed at the ends of steps, some tokens later.
      assertThat(divergence(one, last, vocabulary)).isLessThan(format.isPacked() ? 0.05 : 1e-4);
    }
  }

  private static DeviceDecoder decoder(GgufFile file, PageFormat format, int rows) {
    return new DeviceDecoder(
        Device.first(),
        file,
        ModelConfig.of(file),
        format,
        new DeviceDecoder.Limits(rows, 2 * TOKENS, WINDOW));
  }

  private static HostEngine host(Crew crew) {
    return HostEngine.load(
        Model.openBundled(),
        KernelChoice.ofThisProcess().kernels(),
        crew,
        MemoryPool.unlimited(),
        (done, all) -> {});
  }

  /** Kullback-Leibler, of softmax. */
  private static double divergence(float[] wanted, float[] found, int count) {
    double[] p = softmaxLogs(wanted, count);
    double[] q = softmaxLogs(found, count);
    double sum = 0;
    for (int i = 0; i < count; i++) {
      sum += Math.exp(p[i]) * (p[i] - q[i]);
    }
    return sum;
  }

  private static double[] softmaxLogs(float[] logits, int count) {
    double most = Double.NEGATIVE_INFINITY;
    for (int i = 0; i < count; i++) {
      most = Math.max(most, logits[i]);
    }
    double sum = 0;
    for (int i = 0; i < count; i++) {
      sum += Math.exp(logits[i] - most);
    }
    double[] logs = new double[count];
    for (int i = 0; i < count; i++) {
      logs[i] = logits[i] - most - Math.log(sum);
    }
    return logs;
  }

  private static int sampled(float[] logits, int count, Random random) {
    double[] logs = softmaxLogs(logits, count);
    double left = random.nextDouble();
    for (int i = 0; i < count; i++) {
      left -= Math.exp(logs[i]);
      if (left < 0) {
        return i;
      }
    }
    return count - 1;
  }
}
