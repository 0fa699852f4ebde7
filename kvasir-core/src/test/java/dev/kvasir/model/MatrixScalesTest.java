package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.model.TinyModel.Sizes;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Matrices of NVFP4 have a scale each, under the names that llama.cpp gives them. */
class MatrixScalesTest extends FreesEngines {
  private static final int[] TOKENS = {3, 14, 15, 9, 26, 5};

  /** Floats of 8 bits have these as differences of codes, if their fraction is zero. */
  private static final Map<Float, Integer> SCALES = Map.of(1f, 0, 2f, 8, 1.5f, 4, 3f, 12);

  private static TinyModel model(String family, GgmlType type) {
    return new TinyModel(Sizes.of(family).withType(type), 5);
  }

  /** Returns one of the scales, by the name of a tensor. */
  private static float scale(String tensor) {
    Float[] all = SCALES.keySet().stream().sorted().toArray(Float[]::new);
    return all[Math.floorMod(tensor.hashCode(), all.length)];
  }

  /** Adds a scale for every matrix but the embedding, of which files have none. */
  private static TinyModel withScales(TinyModel model) {
    Map<String, float[]> scales = new LinkedHashMap<>();
    for (String name : matrices(model)) {
      String inFile = TinyModel.ggufName(name.replaceFirst("experts\\.[0-9]+", "experts.0"));
      float[] ofTensor =
          scales.computeIfAbsent(
              inFile.replace(".weight", ".scale"),
              unused -> new float[name.contains(".experts.") ? TinyModel.EXPERTS : 1]);
      ofTensor[expert(name)] = scale(name);
    }
    scales.forEach((name, values) -> model.tensors.put(name, TinyTensor.ofFloats(values)));
    return model;
  }

  private static String[] matrices(TinyModel model) {
    return model.tensors.keySet().stream()
        .filter(name -> model.tensors.get(name).type() == GgmlType.NVFP4)
        .filter(name -> !name.contains("embed"))
        .toArray(String[]::new);
  }

  private static int expert(String name) {
    return name.contains(".experts.") ? Integer.parseInt(name.split("experts\\.|\\.[gud]")[1]) : 0;
  }

  /** Multiplies the scales of the groups instead. */
  private static TinyModel withScaledGroups(TinyModel model) {
    for (String name : matrices(model)) {
      TinyTensor tensor = model.tensors.get(name);
      byte[] bytes = tensor.bytes().clone();
      for (int at = 0; at < bytes.length; at += tensor.type().blockBytes()) {
        for (int group = 0; group < 4; group++) {
          bytes[at + group] += (byte) (int) SCALES.get(scale(name));
        }
      }
      model.tensors.put(name, new TinyTensor(tensor.type(), bytes, tensor.shape()));
    }
    return model;
  }

  private float[][] logits(TinyModel model, String name) {
    Path file = model.writeGguf(folder.resolve(name));
    return Logits.ofLoaded(TinyEngine.ofGguf(file, workers), TOKENS);
  }

  @ParameterizedTest
  @ValueSource(strings = {"qwen2", "qwen3", "qwen2moe", "qwen3moe"})
  void aScaleMultipliesAllWeightsOfItsMatrix(String family) {
    float[][] scaled = logits(withScales(model(family, GgmlType.NVFP4)), "scaled.gguf");
    assertThat(scaled)
        .isDeepEqualTo(logits(withScaledGroups(model(family, GgmlType.NVFP4)), "groups.gguf"))
        .isNotEqualTo(logits(model(family, GgmlType.NVFP4), "plain.gguf"));
  }

  @Test
  void scalesThatDoNotFitAreRefused() {
    assertRefused(
        model("qwen2", GgmlType.NVFP4),
        "blk.1.attn_q.scale",
        new float[2],
        "tensor 'blk.1.attn_q.scale' has shape 2; expected one value for each of 1 matrices");
    assertRefused(
        model("qwen2moe", GgmlType.NVFP4),
        "blk.0.ffn_up_exps.scale",
        new float[] {1},
        "tensor 'blk.0.ffn_up_exps.scale' has shape 1; expected one value for each of 6 matrices");
    assertRefused(
        model("qwen2", GgmlType.NVFP4),
        "output.scale",
        new float[] {Float.NaN},
        "tensor 'output.scale' has a scale of NaN; expected a finite number");
    assertRefused(
        model("qwen2", GgmlType.Q8_0),
        "blk.0.ffn_up.scale",
        new float[] {2},
        "tensor 'blk.0.ffn_up.scale' scales a matrix of type Q8_0; expected NVFP4");
  }

  private void assertRefused(TinyModel model, String name, float[] scales, String message) {
    model.tensors.put(name, TinyTensor.ofFloats(scales));
    assertThatThrownBy(() -> logits(model, "refused.gguf"))
        .as(Arrays.toString(scales))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining(message);
  }
}
