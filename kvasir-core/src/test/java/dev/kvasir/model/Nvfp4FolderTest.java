package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.format.SafetensorsWriter;
import dev.kvasir.model.TinyModel.Sizes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Folders of NVFP4 are the models that GGUF files with the same numbers are. */
class Nvfp4FolderTest extends FreesEngines {
  private static final int[] TOKENS = {3, 14, 15, 9, 26, 5};
  private static final int BLOCK_BYTES = GgmlType.NVFP4.blockBytes();

  /** A tool that writes such folders. */
  private enum Tool {
    MODELOPT("", "_scale_2", "\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\"") {
      @Override
      float stored(float scale) {
        return scale;
      }
    },
    COMPRESSED_TENSORS(
        "_packed",
        "_global_scale",
        "\"quant_method\": \"compressed-tensors\", \"format\": \"nvfp4-pack-quantized\"") {
      @Override
      float stored(float scale) {
        return 1 / scale;
      }
    };

    private final String codes;
    private final String scale;
    private final String config;

    Tool(String codes, String scale, String config) {
      this.codes = codes;
      this.scale = scale;
      this.config = config;
    }

    abstract float stored(float scale);
  }

  private static TinyModel model(String family) {
    return new TinyModel(Sizes.of(family).withType(GgmlType.NVFP4), 5);
  }

  /** Returns a power of two, whose inverse is exact. */
  private static float scale(String tensor) {
    return Math.scalb(1f, Math.floorMod(tensor.hashCode(), 4) - 1);
  }

  private static boolean isQuantized(Map.Entry<String, TinyTensor> tensor) {
    return tensor.getValue().type() == GgmlType.NVFP4 && !tensor.getKey().contains("embed");
  }

  /** Writes embeddings as floats, as the tools do. */
  private Path write(TinyModel model, Tool tool) throws IOException {
    SafetensorsWriter writer = new SafetensorsWriter();
    model.tensors.forEach(
        (name, tensor) -> {
          if (isQuantized(Map.entry(name, tensor))) {
            write(writer, tool, name, tensor);
          } else {
            writer.floats(name, tensor.floats(), tensor.shape());
          }
        });
    return write(writer, model, tool);
  }

  private Path write(SafetensorsWriter writer, TinyModel model, Tool tool) throws IOException {
    Path path = Files.createDirectories(folder.resolve(tool.name()));
    String config = model.json.toString();
    Files.writeString(
        path.resolve("config.json"),
        "{\"quantization_config\": {%s}, %s".formatted(tool.config, config.substring(1)));
    writer.writeTo(path.resolve("model.safetensors"));
    return path;
  }

  private static void write(SafetensorsWriter writer, Tool tool, String name, TinyTensor tensor) {
    long rows = tensor.shape()[0];
    long columns = tensor.shape()[1];
    int blocks = tensor.bytes().length / BLOCK_BYTES;
    byte[] codes = new byte[32 * blocks];
    byte[] scales = new byte[4 * blocks];
    for (int block = 0; block < blocks; block++) {
      System.arraycopy(tensor.bytes(), block * BLOCK_BYTES, scales, 4 * block, 4);
      for (int i = 0; i < 64; i++) {
        codes[32 * block + i / 2] |= (byte) (code(tensor.bytes(), block, i) << 4 * (i % 2));
      }
    }
    writer.tensor(name + tool.codes, "U8", codes, rows, columns / 2);
    writer.tensor(name + "_scale", "F8_E4M3", scales, rows, columns / 16);
    writer.floats(name + tool.scale, new float[] {tool.stored(scale(name))}, 1);
    writer.floats(name.replace("weight", "input_scale"), new float[] {7}, 1); // of activations
  }

  private static int code(byte[] bytes, int block, int i) {
    int pair = bytes[block * BLOCK_BYTES + 4 + i / 16 * 8 + i % 8];
    return i % 16 < 8 ? pair & 15 : pair >> 4 & 15;
  }

  private static Path withScales(TinyModel model, Path file) {
    for (Map.Entry<String, TinyTensor> tensor : Map.copyOf(model.tensors).entrySet()) {
      if (isQuantized(tensor)) {
        String name = TinyModel.ggufName(tensor.getKey()).replace(".weight", ".scale");
        model.tensors.put(name, TinyTensor.ofFloats(scale(tensor.getKey())));
      }
    }
    return model.writeGguf(file);
  }

  @ParameterizedTest
  @CsvSource({"qwen2, MODELOPT", "qwen3, COMPRESSED_TENSORS", "qwen2, COMPRESSED_TENSORS"})
  void aFolderIsTheModelOfItsGgufFile(String family, Tool tool) throws IOException {
    Path gguf = withScales(model(family), folder.resolve("model.gguf"));
    Path path = write(model(family), tool);
    assertThat(Logits.ofLoaded(TinyEngine.ofFolder(path, workers), TOKENS))
        .isDeepEqualTo(Logits.ofLoaded(TinyEngine.ofGguf(gguf, workers), TOKENS));
  }

  @Test
  void theFingerprintDependsOnPackedWeights() throws IOException {
    TinyModel model = model("qwen2");
    String before = fingerprint(write(model, Tool.MODELOPT));
    model.tensors.get("model.layers.1.mlp.up_proj.weight").bytes()[5] ^= 1;
    assertThat(fingerprint(write(model, Tool.MODELOPT))).isNotEqualTo(before);
  }

  private static String fingerprint(Path path) {
    try (SafetensorsFolder opened = SafetensorsFolder.open(path)) {
      return Fingerprint.of(ModelConfig.of(path), opened);
    }
  }

  @Test
  void matricesThatDoNotFitAreRefused() throws IOException {
    String name = "model.layers.0.self_attn.q_proj.weight";
    assertRefused(name + "_scale_2", new float[2], " has shape 2; expected one value");
    assertRefused(name + "_scale_3", new float[1], " has neither a .weight_scale_2 nor a");
    assertRefused(
        name + "_scale_2",
        new float[] {Float.NaN},
        " has a scale of NaN; expected a finite number");
  }

  private void assertRefused(String scale, float[] values, String message) throws IOException {
    TinyModel model = model("qwen2");
    SafetensorsWriter writer = new SafetensorsWriter();
    model.tensors.forEach(
        (name, tensor) -> {
          if (scale.startsWith(name)) {
            writer.tensor(name, "U8", new byte[256 * 128], 256, 128);
            writer.tensor(name + "_scale", "F8_E4M3", new byte[256 * 16], 256, 16);
            writer.floats(scale, values, values.length);
          } else {
            writer.floats(name, tensor.floats(), tensor.shape());
          }
        });
    Path path = write(writer, model, Tool.MODELOPT);
    assertThatThrownBy(() -> TinyEngine.ofFolder(path, workers))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining(message);
  }

  @Test
  void otherShapesAndOtherFormatsAreRefused() throws IOException {
    TinyModel model = model("qwen2");
    String name = "model.layers.0.self_attn.q_proj.weight";
    model.tensors.remove(name);
    SafetensorsWriter writer = new SafetensorsWriter();
    writer.tensor(name, "U8", new byte[256 * 128], 256, 128);
    writer.tensor(name + "_scale", "F8_E4M3", new byte[256 * 8], 256, 8);
    model.tensors.forEach((each, tensor) -> writer.floats(each, tensor.floats(), tensor.shape()));
    Path path = write(writer, model, Tool.MODELOPT);
    assertThatThrownBy(() -> TinyEngine.ofFolder(path, workers))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("have shapes 256 x 128 and 256 x 8; expected rows x columns / 2");
    Files.writeString(
        path.resolve("config.json"),
        "{\"quantization_config\": {\"quant_method\": \"modelopt\", \"quant_algo\": \"FP8\"}}");
    assertThatThrownBy(() -> SafetensorsFolder.open(path))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("quantized by ModelOpt");
  }
}
