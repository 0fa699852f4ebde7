package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import dev.kvasir.GenerateOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.grammar.TokenGrammar;
import dev.kvasir.sampling.SamplingOptions;
import dev.kvasir.server.answer.CompletionRequest;
import dev.kvasir.server.answer.CompletionRequest.ParserOptions;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import dev.kvasir.text.ChatTemplate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Parses requests of the OpenAI API. Unknown fields are ignored, as clients expect. */
public final class RequestReader {
  private static final int MAX_CHOICES = 16;
  private static final int MAX_STOP_SEQUENCES = 16;
  private static final int MAX_STOP_LENGTH = 1000;
  private static final int MAX_CACHE_KEY_LENGTH = 200;

  private final ServedModel served;
  private final int defaultMaxTokens;
  private final GrammarCache grammars;
  private volatile ChatTemplate template; // null until the first chat request

  /**
   * @param defaultMaxTokens length of a completion whose request sets no limit
   */
  public RequestReader(ServedModel served, int defaultMaxTokens) {
    this.served = served;
    this.defaultMaxTokens = defaultMaxTokens;
    this.grammars = new GrammarCache(served.model().tokenizer());
  }

  /** Parses a chat request. */
  public CompletionRequest chat(Fields request) {
    Tools tools = Tools.read(request);
    String text = render(ChatMessages.read(request), tools);
    int[] prompt = served.model().tokenizer().encode(text, !served.isChatModel());
    boolean startsInReasoning = text.stripTrailing().endsWith("<think>");
    ParserOptions parserOptions = new ParserOptions(true, startsInReasoning, tools.syntax());
    List<String> stopSequences = new ArrayList<>(stopSequences(request));
    if (!served.isChatModel()) {
      stopSequences.add("\nUser:"); // a model without chat turns would write the next one itself
    }
    GenerateOptions options = options(request, prompt, LogprobOptions.ofChat(request));
    Optional<TokenGrammar> grammar = grammars.of(request, tools);
    return request(
        request,
        prompt,
        grammar.map(options::withGrammar).orElse(options),
        stopSequences,
        parserOptions);
  }

  private String render(List<Map<String, Object>> messages, Tools tools) {
    boolean templateListsTools = tools.isEmpty() || served.templateSupportsTools();
    List<Map<String, Object>> promptMessages =
        templateListsTools ? messages : tools.withInstructions(messages);
    List<Map<String, Object>> variables =
        tools.isEmpty() || !templateListsTools ? List.of() : tools.variables();
    try {
      return template().render(new ChatTemplate.Input(promptMessages, variables, true));
    } catch (InvalidInputException e) {
      throw ChatMessages.refused(e);
    }
  }

  /**
   * Returns the template, parsed once. A model with an invalid template can still complete texts.
   */
  private ChatTemplate template() {
    if (template == null) {
      template = served.template();
    }
    return template;
  }

  /** Parses a text completion request. */
  public CompletionRequest completion(Fields request) {
    JsonElement prompt =
        request
            .element("prompt")
            .orElseThrow(() -> request.missing("prompt", "a text or a list of token ids"));
    int[] tokens = tokens(request, prompt);
    GenerateOptions options = options(request, tokens, LogprobOptions.ofText(request));
    Optional<TokenGrammar> grammar = grammars.of(request, Tools.NONE);
    return request(
        request,
        tokens,
        grammar.map(options::withGrammar).orElse(options),
        stopSequences(request),
        ParserOptions.NONE);
  }

  private int[] tokens(Fields request, JsonElement prompt) {
    if (prompt.isJsonPrimitive() && prompt.getAsJsonPrimitive().isString()) {
      return served.model().tokenizer().encode(prompt.getAsString());
    }
    if (!prompt.isJsonArray() || prompt.getAsJsonArray().isEmpty()) {
      throw request.wrong("prompt", prompt, "a text or a list of token ids");
    }
    JsonArray list = prompt.getAsJsonArray();
    boolean isNested = !list.get(0).isJsonPrimitive() || !ServedModel.isNumber(list.get(0));
    if (isNested && list.size() > 1) {
      throw ApiException.invalidField(
          "prompt", "prompt has %d texts; expected one a request".formatted(list.size()));
    }
    return isNested ? tokens(request, list.get(0)) : served.ids(request, list);
  }

  private CompletionRequest request(
      Fields request,
      int[] prompt,
      GenerateOptions options,
      List<String> stopSequences,
      ParserOptions parserOptions) {
    CacheSpec cacheSpec = served.cacheSpec(request);
    return new CompletionRequest(
        prompt,
        cacheSpec,
        options,
        request.integer("n", 1, MAX_CHOICES).orElse(1),
        stopSequences,
        conversation(request),
        "",
        parserOptions);
  }

  private GenerateOptions options(Fields request, int[] prompt, OptionalInt topLogprobs) {
    if (prompt.length == 0) {
      throw ApiException.invalid("the prompt is empty; at least one token is needed");
    }
    int max = Math.max(1, served.contextLimit() - prompt.length);
    int wanted = maxTokens(request).orElse(defaultMaxTokens);
    SamplingOptions sampling = Sampling.read(request, served.model().config().vocabulary());
    return new GenerateOptions(Math.min(max, wanted), sampling, Optional.empty(), topLogprobs);
  }

  private static OptionalInt maxTokens(Fields request) {
    OptionalInt wanted = request.integer("max_completion_tokens", 1, Integer.MAX_VALUE);
    return wanted.isPresent() ? wanted : request.integer("max_tokens", 1, Integer.MAX_VALUE);
  }

  private static Optional<String> conversation(Fields request) {
    Optional<String> key = request.string("prompt_cache_key").filter(text -> !text.isBlank());
    if (key.filter(text -> text.length() > MAX_CACHE_KEY_LENGTH).isPresent()) {
      throw ApiException.invalidField(
          "prompt_cache_key",
          "prompt_cache_key has %d characters; expected at most %d"
              .formatted(key.get().length(), MAX_CACHE_KEY_LENGTH));
    }
    return key;
  }

  private static List<String> stopSequences(Fields request) {
    Optional<JsonElement> stop = request.element("stop");
    if (stop.isEmpty()) {
      return List.of();
    }
    JsonArray list = new JsonArray();
    if (stop.get().isJsonArray()) {
      list = stop.get().getAsJsonArray();
    } else {
      list.add(stop.get());
    }
    List<String> stopSequences = new ArrayList<>();
    for (JsonElement phrase : list) {
      boolean good =
          phrase.isJsonPrimitive()
              && phrase.getAsJsonPrimitive().isString()
              && phrase.getAsString().length() <= MAX_STOP_LENGTH;
      if (!good || stopSequences.size() == MAX_STOP_SEQUENCES) {
        throw request.wrong(
            "stop",
            stop.get(),
            "up to %d texts of %d characters at the most"
                .formatted(MAX_STOP_SEQUENCES, MAX_STOP_LENGTH));
      }
      if (!phrase.getAsString().isEmpty()) {
        stopSequences.add(phrase.getAsString());
      }
    }
    return List.copyOf(stopSequences);
  }
}
