package dev.kvasir.model;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * What {@code adapter_config.json} states about the scales of a low-rank adapter.
 *
 * @param alpha of modules that no pattern matches
 * @param alphas by patterns of modules, the first that matches
 * @param isStabilized whether scales fall with the square root of the rank (rsLoRA)
 */
record PeftConfig(double alpha, Map<Pattern, Double> alphas, boolean isStabilized) {
  /** Options that change what is computed. */
  private static final List<String> UNSUPPORTED =
      List.of(
          "use_dora",
          "use_qalora",
          "use_bdlora",
          "lora_bias",
          "fan_in_fan_out",
          "modules_to_save",
          "target_parameters",
          "trainable_token_indices",
          "layer_replication",
          "alora_invocation_tokens");

  /** Beginnings of initializations that change the weights of the model too. */
  private static final List<String> CHANGES_MODEL = List.of("pissa", "olora", "corda", "loftq");

  static PeftConfig read(Path path) {
    JsonFile json = JsonFile.read(path);
    String type = json.string("peft_type").orElse("");
    if (!type.equals("LORA")) {
      throw new InvalidInputException("%s: peft_type is '%s'; expected LORA".formatted(path, type));
    }
    UNSUPPORTED.forEach(option -> requireUnset(json, option));
    String bias = json.string("bias").orElse("none");
    if (!bias.equals("none")) {
      throw new InvalidInputException("%s: bias is '%s'; expected none".formatted(path, bias));
    }
    requirePlainWeights(json);
    return new PeftConfig(
        finite(json, "lora_alpha", json.root().get("lora_alpha")),
        alphas(json),
        json.bool("use_rslora").orElse(false));
  }

  private static void requireUnset(JsonFile json, String option) {
    JsonElement value = json.root().get(option);
    if (value == null || isUnset(value)) {
      return;
    }
    throw new InvalidInputException(
        "%s: %s is %s; Kvasir applies adapters without it".formatted(json.name(), option, value));
  }

  private static boolean isUnset(JsonElement value) {
    return value.isJsonNull()
        || value.isJsonArray() && value.getAsJsonArray().isEmpty()
        || value.isJsonObject() && value.getAsJsonObject().isEmpty()
        || value.isJsonPrimitive() && value.getAsString().equals("false");
  }

  private static void requirePlainWeights(JsonFile json) {
    JsonElement how = json.root().get("init_lora_weights");
    if (how != null
        && how.isJsonPrimitive()
        && CHANGES_MODEL.stream().anyMatch(how.getAsString()::startsWith)) {
      throw new InvalidInputException(
          "%s: init_lora_weights is %s, which changes the model's weights too; convert the adapter"
                  .formatted(json.name(), how)
              + " to plain LoRA with PEFT");
    }
  }

  private static Map<Pattern, Double> alphas(JsonFile json) {
    Map<Pattern, Double> alphas = new LinkedHashMap<>();
    JsonObject given = json.object("alpha_pattern").map(JsonFile::root).orElse(new JsonObject());
    given.entrySet().forEach(each -> alphas.put(pattern(json, each.getKey()), finite(json, each)));
    return alphas;
  }

  /** A pattern is the end of a module's name, after a dot. */
  private static Pattern pattern(JsonFile json, String text) {
    try {
      return Pattern.compile("(.*\\.)?(" + text + ")");
    } catch (PatternSyntaxException e) {
      throw new InvalidInputException(
          "%s: alpha_pattern has '%s'; expected a regular expression".formatted(json.name(), text),
          e);
    }
  }

  private static double finite(JsonFile json, Map.Entry<String, JsonElement> alpha) {
    return finite(json, "alpha_pattern of " + alpha.getKey(), alpha.getValue());
  }

  private static double finite(JsonFile json, String what, JsonElement value) {
    boolean isNumber =
        value != null && value.isJsonPrimitive() && value.getAsJsonPrimitive().isNumber();
    if (!isNumber || !Double.isFinite(value.getAsDouble())) {
      throw new InvalidInputException(
          "%s: %s is %s; expected a finite number"
              .formatted(json.name(), what, value == null ? "missing" : value));
    }
    return value.getAsDouble();
  }

  /** Returns the factor of a module's products. */
  double scale(String module, long rank) {
    double numerator =
        alphas.entrySet().stream()
            .filter(each -> each.getKey().matcher(module).matches())
            .map(Map.Entry::getValue)
            .findFirst()
            .orElse(alpha);
    return numerator / (isStabilized ? Math.sqrt(rank) : rank);
  }
}
