package dev.kvasir.model;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonPrimitive;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;
import dev.kvasir.model.ModelConfig.RopeSettings;
import dev.kvasir.model.RopeFrequencies.LongRope;
import dev.kvasir.model.RopeFrequencies.Yarn;
import java.util.Optional;
import java.util.function.IntPredicate;

/** Reads the RoPE settings of each layer from a {@code config.json}. */
final class HuggingFaceRopes {
  private static final int SMOLLM3_PERIOD = 4;

  private final JsonFile json;
  private final Architecture architecture;
  private final int headDim;
  private final int contextLength;
  private final WindowPattern windows;
  private final int layers;

  HuggingFaceRopes(
      JsonFile json,
      Architecture architecture,
      int headDim,
      int contextLength,
      WindowPattern windows,
      int layers) {
    this.json = json;
    this.architecture = architecture;
    this.headDim = headDim;
    this.contextLength = contextLength;
    this.windows = windows;
    this.layers = layers;
  }

  RopePattern pattern() {
    // If layers differ, newer files have an object for each layer type.
    Optional<JsonFile> all = stated(json);
    Optional<JsonFile> full = all.flatMap(given -> given.object("full_attention"));
    Optional<JsonFile> sliding = all.flatMap(given -> given.object("sliding_attention"));
    double growth = all.flatMap(given -> given.number("llama_4_scaling_beta")).orElse(0.0);
    if (growth != 0 && architecture != Architecture.MISTRAL3) {
      throw new InvalidInputException(
          "%s: scales its queries by their positions; that is not supported"
              .formatted(json.name()));
    }
    RopeSettings global = ofGlobalHeads().global(full.or(() -> all));
    if (growth != 0) {
      global =
          global.withTemperature(new QueryTemperature(growth, originalContext(all.orElseThrow())));
    }
    if (architecture == Architecture.SMOLLM3) {
      return RopePattern.withoutRope(global, layersWithRope(json, layers).negate());
    }
    if (architecture.isNemotron()) {
      return RopePattern.withoutRope(global, layer -> true);
    }
    if (architecture == Architecture.GRANITE_HYBRID
        && !json.string("position_embedding_type").orElse("nope").equals("rope")) {
      return RopePattern.withoutRope(global, layer -> true);
    }
    RopeSettings local =
        sliding.isPresent() ? settings(sliding.get(), localBase(global)) : local(global);
    return RopePattern.of(global, local, windows);
  }

  /**
   * Returns what a file states: newer ones everything in {@code rope_parameters}, older ones the
   * scaling in {@code rope_scaling}, which is taken if a file has both.
   */
  static Optional<JsonFile> stated(JsonFile json) {
    return json.object("rope_scaling")
        .filter(scaling -> !scaling.root().isEmpty())
        .or(() -> json.object("rope_parameters"));
  }

  /** Returns a reader for layers without a window, whose heads Gemma 4 gives other sizes. */
  private HuggingFaceRopes ofGlobalHeads() {
    if (architecture != Architecture.GEMMA4) {
      return this;
    }
    int globalDim = LayerSizesReader.globalDim(json, windows, layers, headDim);
    return new HuggingFaceRopes(json, architecture, globalDim, contextLength, windows, layers);
  }

  private RopeSettings global(Optional<JsonFile> scaling) {
    double base = json.number("rope_theta").orElse(10_000.0);
    return scaling
        .map(given -> settings(given, base))
        .orElseGet(
            () ->
                new RopeSettings(layout(), base, dimensions(json), new RopeFrequencies.Unscaled()));
  }

  private RopeLayout layout() {
    return layout(architecture);
  }

  /** Returns the layout of a family's folders. */
  static RopeLayout layout(Architecture architecture) {
    return architecture == Architecture.ERNIE4_5 ? RopeLayout.INTERLEAVED : RopeLayout.HALVES;
  }

  private RopeSettings local(RopeSettings global) {
    return global.withBase(localBase(global), architecture.traits().scalesLocalRope());
  }

  private double localBase(RopeSettings global) {
    double fallback = architecture.traits().localRopeBase();
    return json.number("rope_local_base_freq").orElse(fallback == 0 ? global.base() : fallback);
  }

  private RopeSettings settings(JsonFile scaling, double fallbackBase) {
    double base = scaling.number("rope_theta").orElse(fallbackBase);
    if (kind(scaling).equals("proportional")) {
      double share = scaling.number("partial_rotary_factor").orElse(1.0);
      return new RopeSettings(
          layout(), base, headDim, new RopeFrequencies.Proportional((int) (share * headDim / 2)));
    }
    RopeFrequencies frequencies = frequencies(scaling);
    return new RopeSettings(
        layout(), base, dimensions(scaling), frequencies, magnitude(scaling, frequencies));
  }

  /** Returns the rotary channels of a head; older files state their share outside the settings. */
  private int dimensions(JsonFile settings) {
    String key = "partial_rotary_factor";
    double share =
        settings.number(key).or(() -> json.number(key)).orElse(architecture.rotaryShare());
    return (int) (headDim * share);
  }

  private RopeFrequencies frequencies(JsonFile scaling) {
    String kind = kind(scaling);
    return switch (kind) {
      // Dynamic scaling begins where the trained context ends, which is the longest one here.
      case "default", "dynamic" -> new RopeFrequencies.Unscaled();
      case "linear" -> new RopeFrequencies.Linear(required(scaling, "factor"));
      case "llama3" ->
          new RopeFrequencies.Llama3(
              required(scaling, "factor"),
              required(scaling, "low_freq_factor"),
              required(scaling, "high_freq_factor"),
              required(scaling, "original_max_position_embeddings"));
      case "yarn" ->
          new Yarn(
              required(scaling, "factor"),
              originalContext(scaling),
              scaling.number("beta_fast").orElse(Yarn.DEFAULT_BETA_FAST),
              scaling.number("beta_slow").orElse(Yarn.DEFAULT_BETA_SLOW),
              scaling.bool("truncate").orElse(true));
      case "longrope", "su" ->
          new LongRope(
              factors(scaling, "short_factor"),
              factors(scaling, "long_factor"),
              originalContext(scaling),
              contextLength);
      default ->
          throw new InvalidInputException(
              "%s: rope scaling is '%s'; supported are default, dynamic, linear, llama3, yarn and longrope"
                  .formatted(scaling.name(), kind));
    };
  }

  private static String kind(JsonFile scaling) {
    return scaling.string("rope_type").or(() -> scaling.string("type")).orElse("default");
  }

  private double magnitude(JsonFile scaling, RopeFrequencies frequencies) {
    Optional<Double> given = scaling.number("attention_factor");
    return switch (frequencies) {
      case Yarn yarn -> given.orElseGet(() -> magnitude(scaling, yarn.factor()));
      case LongRope rule -> given.orElseGet(() -> magnitude(scaling, rule));
      default -> 1;
    };
  }

  private static double magnitude(JsonFile scaling, double factor) {
    Optional<Double> mscale = scaling.number("mscale").filter(number -> number != 0);
    Optional<Double> all = scaling.number("mscale_all_dim").filter(number -> number != 0);
    return mscale.isPresent() && all.isPresent()
        ? Yarn.magnitude(factor, mscale.get()) / Yarn.magnitude(factor, all.get())
        : Yarn.magnitude(factor);
  }

  /**
   * Returns the attention factor of LongRoPE, from the ratio of the context lengths if not stated.
   */
  private double magnitude(JsonFile scaling, LongRope rule) {
    double longer = contextLength / (double) rule.originalContext();
    double factor = scaling.number("factor").orElse(longer);
    return factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(rule.originalContext()));
  }

  private int originalContext(JsonFile scaling) {
    String key = "original_max_position_embeddings";
    int given = json.integer(key).orElse(scaling.integer(key).orElse(0));
    return given == 0 ? contextLength : given;
  }

  private float[] factors(JsonFile scaling, String key) {
    JsonArray found =
        scaling.array(key).orElseThrow(() -> scaling.missing(key, "an array of numbers"));
    int pairs = dimensions(scaling) / 2;
    if (found.size() != pairs) {
      throw new InvalidInputException(
          "%s: '%s' has %d entries; expected %d"
              .formatted(scaling.name(), key, found.size(), pairs));
    }
    float[] factors = new float[pairs];
    for (int i = 0; i < pairs; i++) {
      JsonElement element = found.get(i);
      if (!(element instanceof JsonPrimitive primitive) || !primitive.isNumber()) {
        throw scaling.wrong(key + "[" + i + "]", element, "a number");
      }
      factors[i] = primitive.getAsFloat();
    }
    return factors;
  }

  /** Reads which layers have RoPE: a list of 1 and 0, or an interval of layers without it. */
  static IntPredicate layersWithRope(JsonFile json, int layers) {
    Optional<JsonArray> ropeLayers = json.array("no_rope_layers");
    if (ropeLayers.isEmpty()) {
      int period = json.integer("no_rope_layer_interval").orElse(SMOLLM3_PERIOD);
      return layer -> period == 0 || (layer + 1) % period != 0;
    }
    JsonArray each = ropeLayers.get();
    if (each.size() != layers) {
      throw new InvalidInputException(
          "%s: 'no_rope_layers' has %d entries; expected %d"
              .formatted(json.name(), each.size(), layers));
    }
    return layer -> !each.get(layer).toString().equals("0");
  }

  private static double required(JsonFile json, String key) {
    return json.number(key).orElseThrow(() -> json.missing(key, "a number"));
  }
}
