package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.GgufMetadata;
import dev.kvasir.model.ModelConfig.RopeSettings;
import dev.kvasir.model.RopeFrequencies.Yarn;

/** Reads the RoPE settings of each layer from a GGUF file. */
final class GgufRopes {
  private static final int SMOLLM3_PERIOD = 4;

  private final GgufFile file;
  private final GgufMetadata metadata;
  private final Architecture architecture;
  private final int contextLength;
  private final int dimensions;

  GgufRopes(GgufFile file, Architecture architecture, int keyDim, int contextLength) {
    this.file = file;
    this.metadata = file.metadata();
    this.architecture = architecture;
    this.contextLength = contextLength;
    this.dimensions = metadata.integer(key("rope.dimension_count")).orElse(keyDim);
  }

  RopePattern pattern(WindowPattern windows) {
    RopeSettings global = global();
    if (architecture == Architecture.SMOLLM3) {
      return RopePattern.withoutRope(global, layer -> (layer + 1) % SMOLLM3_PERIOD == 0);
    }
    if (architecture.isNemotron()) {
      return RopePattern.withoutRope(global, layer -> true);
    }
    // Granite uses this key to switch RoPE off altogether.
    if (isGranite() && !metadata.bool(key("rope.scaling.finetuned")).orElse(true)) {
      return RopePattern.withoutRope(global, layer -> true);
    }
    return RopePattern.of(global, local(global), windows);
  }

  private boolean isGranite() {
    return architecture == Architecture.GRANITE || architecture == Architecture.GRANITE_HYBRID;
  }

  private RopeSettings global() {
    double base = metadata.number(key("rope.freq_base")).orElse(defaultBase());
    RopeFrequencies frequencies = frequencies();
    double magnitude = metadata.number(key("rope.scaling.attn_factor")).orElse(1.0);
    if (frequencies instanceof Yarn yarn) {
      magnitude *= Yarn.magnitude(yarn.factor());
      if (architecture == Architecture.MISTRAL3) {
        String key = key("rope.scaling.yarn_log_multiplier");
        magnitude /= Yarn.magnitude(yarn.factor(), metadata.number(key).orElse(0.0));
      }
    }
    return new RopeSettings(
        architecture.ggufRopeLayout(), base, dimensions, frequencies, magnitude, temperature());
  }

  private QueryTemperature temperature() {
    double scale = metadata.number(key("attention.temperature_scale")).orElse(0.0);
    if (scale != 0 && architecture != Architecture.MISTRAL3) {
      throw new InvalidInputException(
          "%s: scales its queries by their positions; that is not supported"
              .formatted(file.name()));
    }
    return scale == 0 ? QueryTemperature.NONE : new QueryTemperature(scale, originalContext());
  }

  /** Returns the base if the file does not state it. Some Gemma 3 files use a key of their own. */
  private double defaultBase() {
    return architecture == Architecture.GEMMA3
        ? metadata.number(key("rope.global.freq_base")).orElse(1_000_000.0)
        : 10_000;
  }

  private RopeSettings local(RopeSettings global) {
    ArchitectureTraits traits = architecture.traits();
    double fallback = traits.localRopeBase() == 0 ? global.base() : traits.localRopeBase();
    double base = metadata.number(key("rope.freq_base_swa")).orElse(fallback);
    int channels = metadata.integer(key("rope.dimension_count_swa")).orElse(global.dimensions());
    return global.withBase(base, traits.scalesLocalRope()).withDimensions(channels);
  }

  private RopeFrequencies frequencies() {
    if (file.find(TensorNames.ROPE_FACTORS).isPresent()) {
      return new RopeFrequencies.PerPairFactors(factors(TensorNames.ROPE_FACTORS));
    }
    // Older files state no type and mean linear. A factor of 0 means none.
    String kind = metadata.string(key("rope.scaling.type")).orElse("linear");
    if (kind.equals("longrope") || file.find(TensorNames.LONG_ROPE_FACTORS).isPresent()) {
      return new RopeFrequencies.LongRope(
          factors(TensorNames.SHORT_ROPE_FACTORS),
          factors(TensorNames.LONG_ROPE_FACTORS),
          originalContext(),
          contextLength);
    }
    double factor =
        metadata
            .number(key("rope.scaling.factor"))
            .or(() -> metadata.number(key("rope.scale_linear")))
            .filter(given -> given != 0)
            .orElse(1.0);
    return switch (kind) {
      case "none" -> new RopeFrequencies.Unscaled();
      case "linear" -> new RopeFrequencies.Linear(factor);
      case "yarn" ->
          new Yarn(
              factor,
              originalContext(),
              yarnBeta("rope.scaling.yarn_beta_fast", Yarn.DEFAULT_BETA_FAST),
              yarnBeta("rope.scaling.yarn_beta_slow", Yarn.DEFAULT_BETA_SLOW),
              true);
      default ->
          throw new InvalidInputException(
              "%s: rope scaling is '%s'; supported are none, linear, yarn, longrope and Llama 3.1's"
                  .formatted(file.name(), kind));
    };
  }

  /** Returns a YaRN beta; llama.cpp ignores these keys in other families. */
  private double yarnBeta(String suffix, double fallback) {
    return architecture == Architecture.MISTRAL3
        ? metadata.number(key(suffix)).orElse(fallback)
        : fallback;
  }

  private float[] factors(String tensor) {
    return file.require(tensor, dimensions / 2).toFloats();
  }

  private int originalContext() {
    int given = metadata.integer(key("rope.scaling.original_context_length")).orElse(0);
    return given == 0 ? contextLength : given;
  }

  private String key(String suffix) {
    return architecture.identifier() + "." + suffix;
  }
}
