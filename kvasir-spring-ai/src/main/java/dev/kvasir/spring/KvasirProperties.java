package dev.kvasir.spring;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * What an application says of its model.
 *
 * @param model a GGUF file or a folder of Hugging Face; null for the bundled model
 * @param kv kinds of cache, separated by semicolons; the first one is the usual
 * @param kvMemory that the caches of all answers together may take; null for what there is
 * @param threads that compute; null for all processors
 * @param contextLimit tokens of a prompt and its answer; null for what the model has
 * @param store places where what was read outlives the process, separated by semicolons; null for
 *     none
 * @param chat what prompts leave open
 */
@ConfigurationProperties("kvasir")
public record KvasirProperties(
    String model,
    @DefaultValue("fp16") String kv,
    DataSize kvMemory,
    Integer threads,
    Integer contextLimit,
    String store,
    @DefaultValue Chat chat) {

  /** The usual options; null where the library's own are as good. */
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

  /** Places as {@code kvasir serve --store} takes them. */
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
