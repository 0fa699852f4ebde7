package dev.kvasir.server.llamacpp;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import dev.kvasir.text.Tokenizer;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * Translates requests to fill a gap between a prefix and a suffix to text completions. Models that
 * can fill gaps have special tokens for it, which differ by family:
 *
 * <pre>
 * FILE name \n text ... PREFIX prefix SUFFIX suffix MIDDLE prompt
 * </pre>
 */
public final class InfillReader {
  /** Tokens before the prefix, before the suffix, before the middle and before a file's name. */
  private record GapTokens(String prefix, String suffix, String middle, String file) {}

  private static final List<GapTokens> FAMILIES =
      List.of(
          new GapTokens("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|file_sep|>"),
          new GapTokens("<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<file_sep>"),
          new GapTokens("<fim-prefix>", "<fim-suffix>", "<fim-middle>", "<file_sep>"),
          new GapTokens("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>", ""),
          new GapTokens("<PRE>", "<SUF>", "<MID>", ""),
          new GapTokens("▁<PRE>", "▁<SUF>", "▁<MID>", ""),
          new GapTokens("<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>", ""));

  private final Tokenizer tokenizer;

  public InfillReader(Tokenizer tokenizer) {
    this.tokenizer = tokenizer;
  }

  /** Returns the request in the form of a text completion. */
  public Fields completion(Fields request) {
    GapTokens tokens =
        FAMILIES.stream()
            .filter(
                family ->
                    Arrays.asList(family.prefix, family.suffix, family.middle).stream()
                        .allMatch(name -> id(name).isPresent()))
            .findFirst()
            .orElseThrow(
                () -> ApiException.invalid("this model has no tokens for filling a gap in a text"));
    JsonObject completion = request.json().deepCopy();
    JsonArray prompt = new JsonArray();
    prompt(request, tokens).forEach(prompt::add);
    completion.add("prompt", prompt);
    completion.remove("n");
    request
        .integer("n_predict", -1, Integer.MAX_VALUE)
        .ifPresent(
            most -> {
              if (most > 0) {
                completion.addProperty("max_tokens", most);
              }
            });
    return Fields.of(completion);
  }

  /** Returns the id of a token that is no text; empty if the vocabulary has none of that name. */
  private OptionalInt id(String name) {
    int[] ids = name.isEmpty() ? new int[0] : tokenizer.encode(name, false);
    return ids.length == 1 ? OptionalInt.of(ids[0]) : OptionalInt.empty();
  }

  private IntStream prompt(Fields request, GapTokens tokens) {
    IntStream.Builder all = IntStream.builder();
    tokenizer.bos().ifPresent(all);
    OptionalInt file = id(tokens.file);
    JsonArray extra = request.array("input_extra").orElseGet(JsonArray::new);
    for (int i = 0; i < extra.size(); i++) {
      addFile(all, file, extraFile(request, extra.get(i), "input_extra[%d]".formatted(i)));
    }
    if (!extra.isEmpty() && file.isPresent()) {
      addFile(all, file, "filename\n");
    }
    add(all, id(tokens.prefix), text(request, "input_prefix"));
    add(all, id(tokens.suffix), text(request, "input_suffix"));
    add(all, id(tokens.middle), text(request, "prompt"));
    return all.build();
  }

  private static String text(Fields request, String name) {
    return request.string(name).orElse("");
  }

  private static String extraFile(Fields request, JsonElement file, String path) {
    if (!(file instanceof JsonObject object)) {
      throw request.wrong(path, file, "an object with filename and text");
    }
    Fields fields = Fields.of(object, path);
    return fields.string("filename").orElse("tmp") + "\n" + text(fields, "text");
  }

  private void addFile(IntStream.Builder all, OptionalInt separator, String file) {
    add(all, separator, separator.isPresent() ? file : file + "\n\n");
  }

  private void add(IntStream.Builder all, OptionalInt token, String text) {
    token.ifPresent(all);
    if (!text.isEmpty()) {
      Arrays.stream(tokenizer.encode(text, false)).forEach(all);
    }
  }
}
