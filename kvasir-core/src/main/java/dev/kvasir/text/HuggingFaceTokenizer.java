package dev.kvasir.text;

import com.google.gson.JsonElement;
import com.google.gson.JsonPrimitive;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;
import dev.kvasir.format.SafetensorsFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;

/** Builds a tokenizer from the files of a Hugging Face folder; only tokenizer.json is required. */
final class HuggingFaceTokenizer {
  private final Path folder;
  private final Optional<JsonFile> tokenizerConfig;
  private final Optional<JsonFile> specialTokensMap;
  private final Optional<JsonFile> generationConfig;
  private final Optional<JsonFile> config;

  private HuggingFaceTokenizer(Path folder) {
    this.folder = folder;
    this.tokenizerConfig = optional("tokenizer_config.json");
    this.specialTokensMap = optional("special_tokens_map.json");
    this.generationConfig = optional("generation_config.json");
    this.config = optional("config.json");
  }

  static Tokenizer read(Path folder) {
    NativeTokenizers.prepare();
    Path file = SafetensorsFolder.require(folder, "tokenizer.json");
    String json = text(file);
    TokenizerJson parsed = TokenizerJson.parse(file.toString(), json);
    Vocabulary vocabulary = parsed.vocabulary();
    HuggingFaceTokenizer files = new HuggingFaceTokenizer(folder);
    SpecialTokens special = files.specialTokens(vocabulary);
    Optional<String> chatTemplate = files.chatTemplate();
    return new Tokenizer(
        new HuggingFaceEncoder(file.toString(), json),
        Affixes.NONE,
        vocabulary,
        special,
        parsed.description(),
        chatTemplate);
  }

  private SpecialTokens specialTokens(Vocabulary vocabulary) {
    Optional<String> bosText = tokenText("bos_token");
    Optional<String> eosText = tokenText("eos_token");
    Set<Integer> ends = new HashSet<>();
    eosText.map(vocabulary::find).ifPresent(id -> id.ifPresent(ends::add));
    Stream.of(generationConfig, config)
        .flatMap(Optional::stream)
        .forEach(file -> ends.addAll(ids(file, "eos_token_id")));
    return new SpecialTokens(bos(vocabulary, bosText), bosText, eosText, ends);
  }

  private OptionalInt bos(Vocabulary vocabulary, Optional<String> bosText) {
    OptionalInt named = bosText.map(vocabulary::find).orElse(OptionalInt.empty());
    if (named.isPresent()) {
      return named;
    }
    return Stream.of(generationConfig, config)
        .flatMap(Optional::stream)
        .flatMap(file -> ids(file, "bos_token_id").stream())
        .mapToInt(Integer::intValue)
        .findFirst();
  }

  /** Returns the text of a special token: a string, or an object with it as "content". */
  private Optional<String> tokenText(String key) {
    return Stream.of(tokenizerConfig, specialTokensMap)
        .flatMap(Optional::stream)
        .filter(file -> file.has(key))
        .findFirst()
        .flatMap(
            file ->
                file.root().get(key).isJsonObject()
                    ? file.object(key).flatMap(token -> token.string("content"))
                    : file.string(key));
  }

  /** Returns the ids of a field that is a number or an array. */
  private static List<Integer> ids(JsonFile file, String key) {
    Optional<JsonElement> element = file.element(key);
    if (element.isEmpty()) {
      return List.of();
    }
    if (!element.get().isJsonArray()) {
      return List.of(file.requireInteger(key));
    }
    return element.get().getAsJsonArray().asList().stream()
        .map(
            id -> {
              if (!(id instanceof JsonPrimitive number) || !number.isNumber()) {
                throw file.wrong(key, id, "token ids");
              }
              return number.getAsInt();
            })
        .toList();
  }

  /**
   * Returns the chat template. The jinja file takes precedence over the configuration, and that
   * over the older JSON file.
   */
  private Optional<String> chatTemplate() {
    Path jinja = folder.resolve("chat_template.jinja");
    if (Files.isRegularFile(jinja)) {
      return Optional.of(text(jinja));
    }
    return tokenizerConfig
        .flatMap(HuggingFaceTokenizer::template)
        .or(() -> optional("chat_template.json").flatMap(HuggingFaceTokenizer::template));
  }

  /** Returns a single template, or of several named ones "default", else the first. */
  private static Optional<String> template(JsonFile file) {
    Optional<JsonElement> element = file.element("chat_template");
    if (element.isEmpty() || !element.get().isJsonArray()) {
      return file.string("chat_template");
    }
    List<JsonFile> named =
        element.get().getAsJsonArray().asList().stream()
            .map(each -> JsonFile.parse(file.name() + " 'chat_template'", each.toString()))
            .toList();
    return named.stream()
        .filter(each -> each.string("name").equals(Optional.of("default")))
        .findFirst()
        .or(() -> named.stream().findFirst())
        .flatMap(each -> each.string("template"));
  }

  private Optional<JsonFile> optional(String name) {
    Path file = folder.resolve(name);
    return Files.isRegularFile(file) ? Optional.of(JsonFile.read(file)) : Optional.empty();
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (NoSuchFileException e) {
      throw new InvalidInputException(file + ": no such file", e);
    } catch (IOException e) {
      throw new InvalidInputException(file + ": cannot be read as UTF-8: " + e.getMessage(), e);
    }
  }
}
