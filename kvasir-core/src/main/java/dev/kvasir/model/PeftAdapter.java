package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.ContentHash;
import dev.kvasir.format.SafetensorsFile;
import dev.kvasir.format.Tensor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A low-rank adapter in a folder of PEFT: {@code adapter_config.json} and {@code
 * adapter_model.safetensors}. For a module the latter has {@code base_model.model.MODULE.lora_A}
 * (rank, columns) and {@code lora_B} (rows, rank).
 *
 * @param pairs by the names of modules
 */
record PeftAdapter(String name, List<LoraPair> pairs, byte[] hash) implements LoraAdapter {
  private static final String CONFIG = "adapter_config.json";
  private static final String WEIGHTS = "adapter_model.safetensors";
  private static final Pattern FACTOR =
      Pattern.compile("(?:base_model\\.model\\.)?(.+)\\.lora_([AB])(?:\\.default)?\\.weight");

  /** The tensors of a module; either may be missing in a damaged file. */
  private record Factors(Tensor down, Tensor up) {
    static Factors both(Factors a, Factors b) {
      return new Factors(a.down == null ? b.down : a.down, a.up == null ? b.up : a.up);
    }
  }

  static PeftAdapter read(Path folder, float scale) {
    PeftConfig config = PeftConfig.read(required(folder, CONFIG));
    try (SafetensorsFile file = SafetensorsFile.open(required(folder, WEIGHTS))) {
      MessageDigest digest = ContentHash.newDigest();
      List<LoraPair> pairs = new ArrayList<>();
      factors(file)
          .forEach(
              (module, factors) -> {
                Tensor down = present(file, module, "lora_A", factors.down());
                Tensor up = present(file, module, "lora_B", factors.up());
                double factor = scale * config.scale(module, down.shape()[0]);
                pairs.add(LoraPair.of(file.name(), module, down, up, factor));
                digest.update(
                    "peft %s %s".formatted(module, factor).getBytes(StandardCharsets.UTF_8));
                digest.update(down.data().asByteBuffer());
                digest.update(up.data().asByteBuffer());
              });
      return new PeftAdapter(folder.toString(), List.copyOf(pairs), digest.digest());
    }
  }

  private static Path required(Path folder, String name) {
    Path file = folder.resolve(name);
    if (!Files.isRegularFile(file)) {
      throw new InvalidInputException(
          "%s: has no %s; expected a GGUF file, or a folder of PEFT with %s and %s"
              .formatted(folder, name, CONFIG, WEIGHTS));
    }
    return file;
  }

  private static Map<String, Factors> factors(SafetensorsFile file) {
    Map<String, Factors> modules = new TreeMap<>();
    for (String name : file.names()) {
      Matcher matcher = FACTOR.matcher(name);
      if (!matcher.matches()) {
        throw new InvalidInputException(
            "%s: tensor '%s' is not supported; expected names that end with lora_A.weight or"
                    .formatted(file.name(), name)
                + " lora_B.weight");
      }
      Tensor tensor = floats(file, name);
      boolean isDown = matcher.group(2).equals("A");
      modules.merge(
          matcher.group(1),
          new Factors(isDown ? tensor : null, isDown ? null : tensor),
          Factors::both);
    }
    return modules;
  }

  private static Tensor floats(SafetensorsFile file, String name) {
    return file.find(name)
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "%s: tensor '%s' has integers; expected floats".formatted(file.name(), name)));
  }

  private static Tensor present(SafetensorsFile file, String module, String which, Tensor tensor) {
    if (tensor == null) {
      throw new InvalidInputException(
          "%s: %s of '%s' is missing".formatted(file.name(), which, module));
    }
    return tensor;
  }

  @Override
  public List<LoraPair> pairsOf(ModelConfig config, TensorNames names, String modelFile) {
    ModuleNames modules = ModuleNames.of(config, names, modelFile);
    return pairs.stream().map(pair -> modules.inModel(name, pair)).toList();
  }
}
