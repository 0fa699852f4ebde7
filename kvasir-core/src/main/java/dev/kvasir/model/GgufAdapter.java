package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.ContentHash;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.Tensor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * A low-rank adapter in a GGUF file of llama.cpp, for a model in one. For a matrix {@code W} a file
 * has {@code W.lora_a} (rank, columns) and {@code W.lora_b} (rows, rank).
 *
 * @param family of the models that it adapts
 * @param pairs by the names of a model's tensors
 */
record GgufAdapter(String name, String family, List<LoraPair> pairs, byte[] hash)
    implements LoraAdapter {
  private static final String DOWN = ".lora_a";
  private static final String UP = ".lora_b";

  static GgufAdapter read(Path path, float scale) {
    try (GgufFile file = GgufFile.open(path)) {
      require(file, "general.type", "adapter");
      require(file, "adapter.type", "lora");
      float alpha = file.metadata().number("adapter.lora.alpha").orElse(0.0).floatValue();
      MessageDigest digest = ContentHash.newDigest();
      digest.update(effect(alpha, scale).getBytes(StandardCharsets.UTF_8));
      List<LoraPair> pairs = new ArrayList<>();
      for (String name : tensorNames(file)) {
        pairs.add(pair(file, name, alpha, scale));
        for (String end : List.of(DOWN, UP)) {
          digest.update((name + end).getBytes(StandardCharsets.UTF_8));
          digest.update(file.find(name + end).orElseThrow().data().asByteBuffer());
        }
      }
      return new GgufAdapter(
          file.name(),
          file.metadata().requireString("general.architecture"),
          List.copyOf(pairs),
          digest.digest());
    }
  }

  /** A file without alpha has no factor but the user's. */
  private static String effect(float alpha, float scale) {
    return alpha == 0 ? "plain " + scale : Float.toString(scale * alpha);
  }

  private static void require(GgufFile file, String key, String expected) {
    String found = file.metadata().string(key).orElse("");
    if (!found.equals(expected)) {
      throw new InvalidInputException(
          "%s: %s is '%s'; an adapter has '%s'".formatted(file.name(), key, found, expected));
    }
  }

  private static Set<String> tensorNames(GgufFile file) {
    Set<String> names = new TreeSet<>();
    for (Tensor tensor : file.tensors()) {
      String name = tensor.name();
      if (!name.endsWith(DOWN) && !name.endsWith(UP)) {
        throw new InvalidInputException(
            "%s: tensor '%s' is not supported; expected names that end with %s or %s"
                .formatted(file.name(), name, DOWN, UP));
      }
      names.add(name.substring(0, name.length() - DOWN.length()));
    }
    return names;
  }

  private static LoraPair pair(GgufFile file, String name, float alpha, float scale) {
    Tensor down = tensor(file, name + DOWN);
    Tensor up = tensor(file, name + UP);
    float factor = alpha == 0 ? scale : scale * alpha / down.shape()[0];
    if (!Float.isFinite(factor)) {
      throw new InvalidInputException(
          "%s: adapter.lora.alpha is %s; expected a finite number".formatted(file.name(), alpha));
    }
    return LoraPair.of(file.name(), name, down, up, factor);
  }

  private static Tensor tensor(GgufFile file, String name) {
    return file.find(name)
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "%s: tensor '%s' is missing".formatted(file.name(), name)));
  }

  @Override
  public List<LoraPair> pairsOf(ModelConfig config, TensorNames names, String modelFile) {
    if (names != TensorNames.GGUF) {
      throw new InvalidInputException(
          "%s: is an adapter of GGUF files; the model %s is a folder, which takes folders of PEFT"
              .formatted(name, modelFile));
    }
    return pairs;
  }
}
