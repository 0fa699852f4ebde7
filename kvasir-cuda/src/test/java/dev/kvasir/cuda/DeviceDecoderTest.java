package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
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
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A whole step on a device against the host's engine, with the bundled model. */
class DeviceDecoderTest {
  private static final int TOKENS = 2000;
  private static final int WINDOW = 128;
  private static final String BUNDLED = "/dev/kvasir/mini/kvasir-mini-q8_0.gguf";

  /**
   * Rows are rounded to bytes before products, so the least difference anywhere becomes a visible
   * one; how large is measured on the same text with the host itself, whose first norm differs by
   * half a unit of a half.
   */
  @ParameterizedTest
  @CsvSource({"FP16, fp16", "KIVI4, 'kivi:4,group=32'", "KIVI2, 'kivi:2,group=32'"})
  void logitsDifferFromTheHostsNoMoreThanRoundingMakesThem(PageFormat format, String spec)
      throws IOException {
    assumeTrue(Device.refusal().isEmpty(), Device.refusal().orElse(""));
    CacheSpec kind = CacheSpec.parse(spec);
    try (Crew crew = new Crew(Math.min(8, Runtime.getRuntime().availableProcessors()));
        HostEngine host = host(crew, false);
        HostEngine nudged = host(crew, true);
        KvCache cache = host.newCache(kind, Optional.empty(), TOKENS + 1);
        KvCache nudgedCache = nudged.newCache(kind, Optional.empty(), TOKENS + 1);
        GgufFile file = Model.openBundled();
        DeviceDecoder device = decoder(file, format, 1);
        DeviceSequence sequence = device.newSequence()) {
      int vocabulary = host.config().vocabulary();
      float[] found = new float[vocabulary];
      double divergence = 0;
      double most = 0;
      double floor = 0;
      for (int token : prose()) {
        float[] wanted = logits(host, cache, token);
        device.step(List.of(sequence), new int[] {token}, found);
        double each = divergence(wanted, found, vocabulary);
        divergence += each / TOKENS;
        most = Math.max(most, each);
        floor += divergence(wanted, logits(nudged, nudgedCache, token), vocabulary) / TOKENS;
      }
      System.out.printf(
          "%s: KL %.2e in the mean, %.2e at the most; the host with itself %.2e%n",
          format, divergence, most, floor);
      assertThat(divergence).isLessThan(2 * floor);
    }
  }

  /** Two thousand tokens of a novel. */
  private static int[] prose() throws IOException {
    try (InputStream in = DeviceDecoderTest.class.getResourceAsStream("prose.tokens")) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return Arrays.stream(text.trim().split("\\s+")).mapToInt(Integer::parseInt).toArray();
    }
  }

  private static float[] logits(HostEngine host, KvCache cache, int token) {
    Batch batch = new Batch();
    batch.add(cache, token, true);
    host.forward(batch);
    return batch.logits();
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

  @Test
  void theLikeliestTokenIsThatOfTheLargestLogit() {
    assumeTrue(Device.refusal().isEmpty(), Device.refusal().orElse(""));
    try (GgufFile file = Model.openBundled();
        DeviceDecoder device = decoder(file, PageFormat.FP16, 3);
        DeviceSequence one = device.newSequence();
        DeviceSequence like = device.newSequence()) {
      int vocabulary = ModelConfig.of(file).vocabulary();
      float[] logits = new float[3 * vocabulary];
      int[] likeliest = new int[3];
      device.step(List.of(one, one, one), new int[] {5, 6, 7}, logits);
      device.step(List.of(like, like, like), new int[] {5, 6, 7}, likeliest);
      for (int row = 0; row < 3; row++) {
        int best = 0;
        for (int i = 0; i < vocabulary; i++) {
          best = logits[row * vocabulary + i] > logits[row * vocabulary + best] ? i : best;
        }
        assertThat(likeliest[row]).isEqualTo(best);
      }
    }
  }

  @Test
  void moreTokensThanThereIsRoomForAreRefused() {
    assumeTrue(Device.refusal().isEmpty(), Device.refusal().orElse(""));
    try (GgufFile file = Model.openBundled();
        DeviceDecoder device =
            DeviceDecoder.open(
                Device.first(),
                file,
                ModelConfig.of(file),
                PageFormat.FP16,
                new DeviceDecoder.Limits(1, 1, 64, WINDOW));
        DeviceSequence sequence = device.newSequence()) {
      sequence.pretend(128);
      assertThatThrownBy(() -> device.step(List.of(sequence), new int[] {1}, new int[1]))
          .isInstanceOf(DeviceRefusal.class)
          .hasMessage("all 2 pages of 64 tokens on the device are taken");
      assertThat(sequence.length()).isEqualTo(128);
    }
  }

  private static DeviceDecoder decoder(GgufFile file, PageFormat format, int rows) {
    return DeviceDecoder.open(
        Device.first(),
        file,
        ModelConfig.of(file),
        format,
        new DeviceDecoder.Limits(rows, 3, 2 * TOKENS, WINDOW));
  }

  private static HostEngine host(Crew crew, boolean nudged) throws IOException {
    return HostEngine.load(
        nudged ? nudged() : Model.openBundled(),
        KernelChoice.ofThisProcess().kernels(),
        crew,
        MemoryPool.unlimited(),
        (done, all) -> {});
  }

  /** The bundled model with weights of its first norm that are up and down by 2^-12 in turns. */
  private static GgufFile nudged() throws IOException {
    byte[] bytes;
    try (InputStream in = Model.class.getResourceAsStream(BUNDLED)) {
      bytes = in.readAllBytes();
    }
    GgufFile file = GgufFile.of("nudged", MemorySegment.ofArray(bytes), Arena.ofShared());
    MemorySegment norm = file.find("blk.0.attn_norm.weight").orElseThrow().data();
    // A segment over an array has the place in it as its address.
    MemorySegment weights = MemorySegment.ofArray(bytes).asSlice(norm.address(), norm.byteSize());
    for (long at = 0; at < weights.byteSize(); at += Float.BYTES) {
      float weight = weights.get(JAVA_FLOAT_UNALIGNED, at);
      weights.set(JAVA_FLOAT_UNALIGNED, at, weight * (1 + (at % 8 == 0 ? 0x1p-12f : -0x1p-12f)));
    }
    return file;
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
}
