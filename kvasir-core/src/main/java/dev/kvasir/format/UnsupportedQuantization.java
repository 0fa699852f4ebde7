package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Detects checkpoints that were quantized for another engine, by config.json or by tensor names.
 * They are rejected before a tensor is missing or misread.
 */
final class UnsupportedQuantization {
  static final String ADVICE = "use the model's original checkpoint, or a GGUF file of it";

  /** Descriptions by {@code quant_method}. */
  private static final Map<String, String> METHODS =
      Map.ofEntries(
          Map.entry("fp8", "FP8, 8-bit floats with separate scales"),
          Map.entry("fbgemm_fp8", "FP8, 8-bit floats with separate scales"),
          Map.entry("awq", "AWQ, packed 4-bit integers"),
          Map.entry("gptq", "GPTQ, packed integers of 2 to 8 bits"),
          Map.entry("auto-round", "AutoRound, packed integers of 2 to 8 bits"),
          Map.entry("bitsandbytes", "bitsandbytes, packed 4-bit or 8-bit numbers"),
          Map.entry("compressed-tensors", "compressed-tensors, packed integers or 8-bit floats"),
          Map.entry("modelopt", "ModelOpt, floats of 8 or 4 bits with separate scales"),
          Map.entry("torchao", "torchao, tensors of PyTorch's own types"),
          Map.entry("hqq", "HQQ, packed integers of 1 to 8 bits"),
          Map.entry("aqlm", "AQLM, indices into codebooks"),
          Map.entry("quanto", "Quanto, packed integers or 8-bit floats"),
          Map.entry("eetq", "EETQ, 8-bit integers"),
          Map.entry("bitnet", "BitNet, packed weights of -1, 0 and 1"),
          Map.entry("exl2", "EXL2, packed integers of 2 to 8 bits"),
          Map.entry("exl3", "EXL3, paths through a trellis"));

  /** Supported: the experts of gpt-oss. */
  private static final String MXFP4 = "mxfp4";

  private UnsupportedQuantization() {}

  static void refuse(Path folder) {
    Path file = folder.resolve("config.json");
    if (Files.isRegularFile(file)) {
      JsonFile config = JsonFile.read(file);
      Stream.of("quantization_config", "compression_config")
          .map(config::object)
          .flatMap(Optional::stream)
          .forEach(found -> refuse(folder, found));
    }
  }

  /** Returns the method of older bitsandbytes files, which do not name it. */
  private static String unnamed(JsonFile quantization) {
    boolean bits = quantization.has("load_in_4bit") || quantization.has("load_in_8bit");
    return bits ? "bitsandbytes" : "a method without a name";
  }

  private static void refuse(Path folder, JsonFile quantization) {
    String method = quantization.string("quant_method").orElse(unnamed(quantization));
    if (!method.equals(MXFP4) && !isNvfp4(method, quantization)) {
      throw refusal(folder, METHODS.getOrDefault(method, Excerpt.of(method)));
    }
  }

  /** Matrices of other types in such a folder are rejected by their own types. */
  private static boolean isNvfp4(String method, JsonFile quantization) {
    return switch (method) {
      case "modelopt" -> quantization.string("quant_algo").orElse("").endsWith("NVFP4");
      case "compressed-tensors" ->
          quantization.string("format").orElse("").equals("nvfp4-pack-quantized");
      default -> false;
    };
  }

  /** Rejects older checkpoints that declare their method in other files only. */
  static void refuse(Path folder, Collection<String> tensorNames) {
    if (tensorNames.stream().anyMatch(name -> name.endsWith(".qweight"))) {
      throw refusal(folder, "GPTQ or AWQ, packed integers");
    }
  }

  private static InvalidInputException refusal(Path folder, String method) {
    return new InvalidInputException(
        "%s: its weights are quantized by %s; folders are read with F32, F16, BF16, MXFP4 or NVFP4: %s"
            .formatted(folder, method, ADVICE));
  }
}
