package dev.kvasir.cli.run;

import dev.kvasir.cli.terminal.FactSheet;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.HeadShape;
import dev.kvasir.format.GgufMetadata;
import dev.kvasir.model.ExpertConfig;
import dev.kvasir.model.LatentConfig;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.RecurrentConfig;
import dev.kvasir.model.WindowPattern;
import dev.kvasir.text.Tokenizer;
import java.lang.reflect.Array;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Describes the configuration of a model. */
final class ModelFacts {
  private static final int MAX_VALUE_LENGTH = 80;

  private ModelFacts() {}

  static void describe(ModelConfig config, FactSheet sheet) {
    sheet.line("model", config.name());
    sheet.line("architecture", config.architecture().identifier());
    sheet.line("layers", config.layers());
    sheet.line(
        "sizes",
        "hidden %s, feed-forward %s"
            .formatted(Units.count(config.hidden()), Units.count(config.feedForward())));
    config.experts().ifPresent(experts -> describe(experts, config, sheet));
    sheet.line("heads", "%d for queries, %s".formatted(config.queryHeads(), keyValueHeads(config)));
    config.latent().ifPresent(latent -> sheet.line("latents", words(config, latent)));
    config.recurrent().ifPresent(states -> sheet.line("recurrent", words(config, states)));
    sheet.line("context", Units.tokens(config.contextLength()) + window(config));
    RopeFacts.describe(config, sheet);
    ScaleFacts.describe(config.scales(), sheet);
  }

  private static void describe(ExpertConfig experts, ModelConfig config, FactSheet sheet) {
    String shared =
        experts.sharedWidth() == 0
            ? ""
            : ", and one of %s that all share".formatted(Units.count(experts.sharedWidth()));
    String dense =
        experts.leadingDense() == 0
            ? ""
            : ", from layer %d on".formatted(experts.leadingDense() + 1);
    sheet.line(
        "experts",
        "%d of %d a token, feed-forward %s%s%s"
            .formatted(
                experts.used(), experts.count(), Units.count(experts.width()), shared, dense));
  }

  /** Describes the KV heads, those of each size with their layers if layers differ. */
  private static String keyValueHeads(ModelConfig config) {
    CacheShape shape = config.cacheShape();
    String heads =
        shape.layersByHeads().stream()
            .map(
                layers ->
                    words(shape.headsOf(layers[0]))
                        + (shape.hasMixedHeads() ? " in %d layers".formatted(layers.length) : ""))
            .collect(Collectors.joining("; "));
    long sharing = IntStream.range(0, config.layers()).filter(config::sharesCache).count();
    return sharing == 0 ? heads : "%s; %d layers read those of others".formatted(heads, sharing);
  }

  private static String words(HeadShape heads) {
    String channels =
        heads.keyDim() == heads.valueDim()
            ? "%d channels".formatted(heads.keyDim())
            : "%d and %d channels".formatted(heads.keyDim(), heads.valueDim());
    return "%d for keys and values, of %s".formatted(heads.kvHeads(), channels);
  }

  private static String words(ModelConfig config, LatentConfig latent) {
    return "a latent of %d channels and %d rotary ones; %s values a token and layer instead of %s"
        .formatted(
            latent.rank(),
            latent.rotary(),
            Units.count(latent.keyDim()),
            Units.count(latent.unabsorbedValues(config.queryHeads())));
  }

  private static String words(ModelConfig config, RecurrentConfig states) {
    return "%d layers: %s, with a state of %s in all"
        .formatted(
            states.count(),
            states.sizes().description(),
            Units.bytes(config.cacheShape().state().bytes()));
  }

  private static String window(ModelConfig config) {
    List<Integer> windows =
        IntStream.range(0, config.layers())
            .map(layer -> config.windows().of(layer))
            .filter(size -> size != WindowPattern.UNBOUNDED)
            .boxed()
            .toList();
    return windows.isEmpty()
        ? ""
        : ", a sliding window of %s in %d layers"
            .formatted(Units.count(windows.getFirst()), windows.size());
  }

  static void describe(Tokenizer tokenizer, FactSheet sheet) {
    sheet.line("tokenizer", tokenizer.description());
    String bos =
        tokenizer.bos().isPresent() ? token(tokenizer, tokenizer.bos().getAsInt()) : "none";
    String ends =
        tokenizer.endOfText().stream()
            .sorted()
            .map(id -> token(tokenizer, id))
            .collect(Collectors.joining(", "));
    sheet.line("special tokens", "begin %s, end %s".formatted(bos, ends.isEmpty() ? "none" : ends));
    sheet.line("chat template", tokenizer.chatTemplate().isPresent() ? "yes" : "no");
  }

  private static String token(Tokenizer tokenizer, int id) {
    return "%s (%d)".formatted(tokenizer.tokenText(id), id);
  }

  /** Prints all metadata of a file. Long values are shortened, and arrays are only counted. */
  static void describe(GgufMetadata metadata, FactSheet sheet) {
    sheet.line("metadata", metadata.keys().size() + " pairs");
    for (String key : metadata.keys()) {
      sheet.line("  " + key + " = ", shortened(metadata.value(key).orElseThrow()));
    }
  }

  private static String shortened(Object value) {
    if (value.getClass().isArray()) {
      return Units.count(Array.getLength(value)) + " entries";
    }
    String text = value.toString();
    return text.length() <= MAX_VALUE_LENGTH ? text : text.substring(0, MAX_VALUE_LENGTH) + "...";
  }
}
