package dev.kvasir.model;

import dev.kvasir.format.ContentHash;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Computes a short identifier of a model's weights and shape. It is a SHA-256 over every tensor's
 * name, type and shape, over samples of its bytes, and over the RoPE frequencies. Hashing all bytes
 * of a large model would take minutes; training changes every tensor, so samples tell models apart.
 */
public final class Fingerprint {
  private static final int SAMPLES = 16;
  private static final int SAMPLE_BYTES = 64;
  private static final int SHOWN_BYTES = 16;

  private Fingerprint() {}

  public static String of(ModelConfig config, TensorSource file) {
    MessageDigest digest = ContentHash.newDigest();
    for (ModelConfig.RopeSettings rope : config.ropes().kinds()) {
      add(digest, "%s %s".formatted(config.architecture(), rope.base()));
      addRopeScaling(digest, rope);
    }
    addChoices(digest, config);
    addWidths(digest, config);
    config.experts().ifPresent(experts -> addExperts(digest, experts));
    config.recurrent().ifPresent(states -> add(digest, states.sizes().toString()));
    List<Tensor> ordered =
        file.tensors().stream().sorted(Comparator.comparing(Tensor::name)).toList();
    for (Tensor tensor : ordered) {
      add(digest, tensor.name() + " " + tensor.type() + " " + tensor.shapeText());
      addSamples(digest, tensor.data());
    }
    file.pairedBytes()
        .forEach(
            (name, bytes) -> {
              add(digest, "%s %d".formatted(name, bytes.byteSize()));
              addSamples(digest, bytes);
            });
    return HexFormat.of().formatHex(digest.digest(), 0, SHOWN_BYTES);
  }

  /**
   * Adds scaled frequencies rather than the scaling rule, which files can state in several ways.
   */
  private static void addRopeScaling(MessageDigest digest, ModelConfig.RopeSettings rope) {
    float[] scaled = rope.frequencies().of(rope.base(), rope.dimensions());
    if (!Arrays.equals(scaled, RopeFrequencies.unscaled(rope.base(), rope.dimensions()))) {
      add(digest, Arrays.toString(scaled));
    }
  }

  /** Adds what can differ for the same tensors, unless it is the default of a plain decoder. */
  private static void addChoices(MessageDigest digest, ModelConfig config) {
    if (!config.scales().equals(Scales.NONE)) {
      add(digest, config.scales().toString());
    }
    if (!config.ropes().isUniform(config.layers())) {
      int[] kinds = IntStream.range(0, config.layers()).map(config.ropes()::of).toArray();
      add(digest, Arrays.toString(kinds));
    }
    for (ModelConfig.RopeSettings rope : config.ropes().kinds()) {
      if (rope.temperature().rate() != 0) {
        add(digest, rope.temperature().toString());
      }
      if (rope.magnitude() != 1) {
        add(digest, "%s %s".formatted(rope.dimensions(), rope.magnitude()));
      }
    }
  }

  /** Adds key and value widths if they differ. Tensor shapes only state heads times channels. */
  private static void addWidths(MessageDigest digest, ModelConfig config) {
    if (config.perLayer().isPresent()) {
      add(digest, config.perLayer().get().toString());
    } else if (config.keyDim() != config.valueDim()) {
      add(digest, "%d %d".formatted(config.keyDim(), config.valueDim()));
    }
  }

  /** Adds how experts are selected, which tensors do not state. */
  private static void addExperts(MessageDigest digest, ExpertConfig experts) {
    Routing routing = experts.routing();
    Routing.Groups groups = routing.groups();
    add(digest, "%d %s %s".formatted(experts.used(), routing.score(), experts.activation()));
    add(digest, "%s %s".formatted(routing.normalized(), routing.scale()));
    add(digest, "%d %d %d".formatted(groups.count(), groups.used(), groups.scoresPerGroup()));
  }

  private static void add(MessageDigest digest, String text) {
    digest.update(text.getBytes(StandardCharsets.UTF_8));
    digest.update((byte) 0);
  }

  private static void addSamples(MessageDigest digest, MemorySegment data) {
    long bytes = data.byteSize();
    long length = Math.min(SAMPLE_BYTES, bytes);
    for (int sample = 0; sample < SAMPLES; sample++) {
      long at = (bytes - length) * sample / (SAMPLES - 1);
      digest.update(data.asSlice(at, length).toArray(ValueLayout.JAVA_BYTE));
    }
  }
}
