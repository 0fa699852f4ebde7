package dev.kvasir.spring;

import dev.kvasir.Embedder.Pooling;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The configuration properties of a model.
 *
 * @param model a GGUF file, a Hugging Face folder, or a name such as {@code hf:owner/repo:Q4_K_M}
 *     to download; null for the bundled model
 * @param kv kinds of cache, separated by semicolons; the first is the default
 * @param kvMemory that all caches may use together; null for no limit
 * @param threads that compute; null for all processors
 * @param contextLimit tokens of a prompt and its answer; null for the model's limit
 * @param store addresses of stores for cached prefixes, separated by semicolons; null for none
 * @param toolFormat how the model writes tool calls, such as {@code hermes}; null to recognise it
 * @param chat defaults for prompts
 * @param embedding the model of embeddings
 */
@ConfigurationProperties("kvasir")
public record KvasirProperties(
    String model,
    @DefaultValue("fp16") String kv,
    DataSize kvMemory,
    Integer threads,
    Integer contextLimit,
    String store,
    String toolFormat,
    @DefaultValue Chat chat,
    @DefaultValue Embedding embedding) {

  /**
   * The model of embeddings.
   *
   * @param model as that of prompts; null for none
   * @param dimensions first ones of a vector that are kept; null for all
   * @param pooling null for the one that the model's files state
   */
  public record Embedding(String model, Integer dimensions, Pooling pooling) {}

  /** Default options; null for the library's defaults. */
  public record Chat(
      Double temperature, Double topP, Integer topK, Double minP, Long seed, Integer maxTokens) {
    KvasirChatOptions options() {
      return KvasirChatOptions.builder()
          .temperature(temperature)
          .topP(topP)
          .topK(topK)
          .maxTokens(maxTokens)
          .minP(minP)
          .seed(seed)
          .build();
    }
  }

  List<String> cacheSpecs() {
    return split(kv);
  }

  /** Returns the addresses in the form of {@code kvasir serve --store}. */
  List<String> stores() {
    return store == null || store.isBlank() ? List.of() : split(store);
  }

  private static List<String> split(String text) {
    return Stream.of(text.split(";")).map(String::strip).toList();
  }

  Optional<DataSize> memory() {
    return Optional.ofNullable(kvMemory);
  }
}
