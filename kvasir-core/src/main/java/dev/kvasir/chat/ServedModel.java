package dev.kvasir.chat;

import dev.kvasir.ToolFormat;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.chat.syntax.MessageSyntax;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.text.ChatTemplate;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A model as clients see it: its name and the cache specs that they may select. A client that can
 * only choose a model selects a cache with {@code name@spec}.
 *
 * @param cacheSpecs the first one is the default
 * @param contextLimit tokens of a prompt and its completion
 * @param syntax how the model writes tool calls and reasoning
 */
public record ServedModel(
    LoadedModel model,
    String name,
    List<CacheSpec> cacheSpecs,
    int contextLimit,
    MessageSyntax syntax) {
  private static final char SPEC_SEPARATOR = '@';
  private static final Pattern HUB_SNAPSHOT =
      Pattern.compile(".*[/\\\\]models--.+?--(.+)[/\\\\]snapshots[/\\\\][0-9a-f]+[/\\\\]*");

  /**
   * @param toolFormat empty to recognise it from the chat template
   */
  static ServedModel of(
      LoadedModel model,
      List<CacheSpec> cacheSpecs,
      int contextLimit,
      Optional<ToolFormat> toolFormat) {
    return new ServedModel(
        model,
        shortName(model.name()),
        List.copyOf(cacheSpecs),
        contextLimit,
        MessageSyntax.recognize(model.tokenizer().chatTemplate(), toolFormat));
  }

  /**
   * Returns the last part of a path, without the file extension. A folder in the cache of a hub is
   * named by a commit, so the repository's name is taken instead.
   */
  public static String shortName(String path) {
    Matcher snapshot = HUB_SNAPSHOT.matcher(path);
    if (snapshot.matches()) {
      return snapshot.group(1);
    }
    String last = path.replaceAll("[/\\\\]+$", "").replaceAll(".*[/\\\\]", "");
    return last.replaceAll("\\.gguf$", "");
  }

  /** Returns every name that requests may use. */
  public List<String> names() {
    return Stream.concat(
            Stream.of(name), cacheSpecs.stream().skip(1).map(spec -> name + SPEC_SEPARATOR + spec))
        .toList();
  }

  /**
   * Returns the model name of a response, which includes the cache spec unless it is the default.
   */
  public String nameFor(CacheSpec spec) {
    return spec.equals(cacheSpecs.getFirst()) ? name : name + SPEC_SEPARATOR + spec;
  }

  /**
   * Returns the cache spec of a request.
   *
   * @param requestedModel the requested model; only a spec in it matters
   * @param requestedSpec the requested spec, which takes precedence
   * @throws InvalidInputException if requests may not select it
   */
  public CacheSpec cacheSpec(Optional<String> requestedModel, Optional<String> requestedSpec) {
    Optional<String> inName =
        requestedModel
            .filter(text -> text.indexOf(SPEC_SEPARATOR) >= 0)
            .map(text -> text.substring(text.indexOf(SPEC_SEPARATOR) + 1));
    Optional<String> wanted = requestedSpec.or(() -> inName);
    if (wanted.isEmpty()) {
      return cacheSpecs.getFirst();
    }
    return cacheSpecs.stream()
        .filter(spec -> spec.text().equals(CacheSpec.expanded(wanted.get())))
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "the kind of cache is '%s'; this server allows %s"
                        .formatted(wanted.get(), cacheSpecs)));
  }

  /** Returns whether the model was trained on conversations. */
  public boolean isChatModel() {
    return model.tokenizer().chatTemplate().isPresent();
  }

  /** Returns the template of the model, or a plain one of role names. */
  ChatTemplate template() {
    return isChatModel() ? model.chatTemplate() : ChatTemplate.plain();
  }

  /** Returns whether the template renders tools. */
  boolean templateSupportsTools() {
    return model.tokenizer().chatTemplate().filter(source -> source.contains("tools")).isPresent();
  }
}
