package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import dev.kvasir.text.ChatTemplate;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A model as clients see it: by a name, with the kinds of cache that they may ask for. A client
 * that can choose a model and nothing else chooses a kind as {@code name@kind}.
 *
 * @param kinds the first one serves who asks for none
 * @param contextLimit tokens of a prompt and its answer
 */
public record ServedModel(Model model, String name, List<CacheSpec> cacheSpecs, int contextLimit) {
  private static final char SPEC_SEPARATOR = '@';

  public static ServedModel of(Model model, List<CacheSpec> cacheSpecs, int contextLimit) {
    return new ServedModel(model, shortName(model.name()), List.copyOf(cacheSpecs), contextLimit);
  }

  /** The last part of a path, without the ending of a file. */
  static String shortName(String path) {
    String last = path.replaceAll("[/\\\\]+$", "").replaceAll(".*[/\\\\]", "");
    return last.replaceAll("\\.gguf$", "");
  }

  /** Every name that it answers to. */
  public List<String> names() {
    return Stream.concat(
            Stream.of(name), cacheSpecs.stream().skip(1).map(kind -> name + SPEC_SEPARATOR + kind))
        .toList();
  }

  /** The name that a request is answered under, which says the kind unless it is the usual one. */
  public String nameFor(Fields request) {
    CacheSpec kind = cacheSpec(request);
    return kind.equals(cacheSpecs.getFirst()) ? name : name + SPEC_SEPARATOR + kind;
  }

  CacheSpec cacheSpec(Fields request) {
    return cacheSpec(request.string("model"), request.string("kv"));
  }

  /**
   * The kind of cache for a request.
   *
   * @param asked by the name of a model, which may be any but for the kind in it
   * @param kind asked for by itself
   */
  private CacheSpec cacheSpec(Optional<String> requestedModel, Optional<String> kind) {
    Optional<String> inName =
        requestedModel
            .filter(text -> text.indexOf(SPEC_SEPARATOR) >= 0)
            .map(text -> text.substring(text.indexOf(SPEC_SEPARATOR) + 1));
    Optional<String> wanted = kind.or(() -> inName);
    if (wanted.isEmpty()) {
      return cacheSpecs.getFirst();
    }
    return cacheSpecs.stream()
        .filter(spec -> spec.text().equals(wanted.get()))
        .findFirst()
        .orElseThrow(
            () ->
                ApiException.invalidField(
                    "kv",
                    "the kind of cache is '%s'; this server allows %s"
                        .formatted(wanted.get(), cacheSpecs)));
  }

  /** Whether it was trained on conversations. */
  public boolean isChatModel() {
    return model.tokenizer().chatTemplate().isPresent();
  }

  /** The template that the model's files carry, or names and colons. */
  ChatTemplate template() {
    return isChatModel() ? model.chatTemplate() : ChatTemplate.plain();
  }

  /** Whether the template knows what to do with tools. */
  boolean templateSupportsTools() {
    return model.tokenizer().chatTemplate().filter(source -> source.contains("tools")).isPresent();
  }

  /** A list of token ids, checked against the vocabulary. */
  public int[] ids(Fields request, JsonArray list) {
    int[] ids = new int[list.size()];
    int vocabulary = model.config().vocabulary();
    for (int i = 0; i < ids.length; i++) {
      JsonElement id = list.get(i);
      double value = isNumber(id) ? id.getAsDouble() : -1;
      if (value != Math.rint(value) || value < 0 || value >= vocabulary) {
        throw request.wrong(
            "[%d]".formatted(i), id, "a token from 0 to %d".formatted(vocabulary - 1));
      }
      ids[i] = (int) value;
    }
    return ids;
  }

  static boolean isNumber(JsonElement element) {
    return element.isJsonPrimitive() && element.getAsJsonPrimitive().isNumber();
  }
}
