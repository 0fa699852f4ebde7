package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.chat.ChatService;
import dev.kvasir.chat.CompletionRequest;
import dev.kvasir.chat.CompletionRequest.ParserOptions;
import dev.kvasir.chat.PromptRenderer.ChatPrompt;
import dev.kvasir.chat.ToolSet;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.grammar.TokenGrammar;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
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

  private final ChatService service;

  public RequestReader(ChatService service) {
    this.service = service;
  }

  /** Parses a chat request. */
  public CompletionRequest chat(Fields request) {
    ToolSet tools = ToolReader.read(request);
    ChatPrompt prompt = render(ChatMessages.read(request), tools, TemplateVariables.read(request));
    List<String> stopSequences = new ArrayList<>(stopSequences(request));
    stopSequences.addAll(prompt.stopSequences());
    GenerationSettings options =
        chatOptions(request, prompt.tokens(), LogprobOptions.ofChat(request));
    Optional<TokenGrammar> grammar =
        grammar(request, tools, prompt.parserOptions().startsInReasoning());
    return request(
        request,
        prompt.tokens(),
        grammar.map(options::withGrammar).orElse(options),
        stopSequences,
        prompt.parserOptions());
  }

  private ChatPrompt render(
      List<Map<String, Object>> messages, ToolSet tools, Map<String, Object> variables) {
    try {
      return service.prompts().render(messages, tools, variables);
    } catch (InvalidInputException e) {
      throw ApiException.invalidField("messages", e.getMessage());
    }
  }

  private Optional<TokenGrammar> grammar(Fields request, ToolSet tools, boolean afterReasoning) {
    RequestedFormat requested = RequestedFormat.read(request, tools);
    try {
      return service.grammars().of(requested.format(), tools, afterReasoning);
    } catch (InvalidInputException e) {
      throw ApiException.invalidField(requested.field(), e.getMessage());
    }
  }

  /** Parses a text completion request. */
  public CompletionRequest completion(Fields request) {
    JsonElement prompt =
        request
            .element("prompt")
            .orElseThrow(() -> request.missing("prompt", "a text or a list of token ids"));
    int[] tokens = tokens(request, prompt);
    GenerationSettings options = options(request, tokens, LogprobOptions.ofText(request));
    Optional<TokenGrammar> grammar = grammar(request, ToolSet.NONE, false);
    return request(
        request,
        tokens,
        grammar.map(options::withGrammar).orElse(options),
        stopSequences(request),
        ParserOptions.NONE);
  }

  private int[] tokens(Fields request, JsonElement prompt) {
    if (prompt.isJsonPrimitive() && prompt.getAsJsonPrimitive().isString()) {
      return service.served().model().tokenizer().encode(prompt.getAsString());
    }
    if (!prompt.isJsonArray() || prompt.getAsJsonArray().isEmpty()) {
      throw request.wrong("prompt", prompt, "a text or a list of token ids");
    }
    JsonArray list = prompt.getAsJsonArray();
    boolean isNested = !list.get(0).isJsonPrimitive() || !TokenIds.isNumber(list.get(0));
    if (isNested && list.size() > 1) {
      throw ApiException.invalidField(
          "prompt", "prompt has %d texts; expected one a request".formatted(list.size()));
    }
    return isNested ? tokens(request, list.get(0)) : TokenIds.read(request, list, vocabulary());
  }

  private int vocabulary() {
    return service.served().model().config().vocabulary();
  }

  private CompletionRequest request(
      Fields request,
      int[] prompt,
      GenerationSettings options,
      List<String> stopSequences,
      ParserOptions parserOptions) {
    return new CompletionRequest(
        prompt,
        cacheSpec(request),
        options,
        request.integer("n", 1, MAX_CHOICES).orElse(1),
        stopSequences,
        conversation(request),
        "",
        parserOptions);
  }

  private CacheSpec cacheSpec(Fields request) {
    try {
      return service.served().cacheSpec(request.string("model"), request.string("kv"));
    } catch (InvalidInputException e) {
      throw ApiException.invalidField("kv", e.getMessage());
    }
  }

  /** Returns the model name of a response. */
  public String nameFor(Fields request) {
    return service.served().nameFor(cacheSpec(request));
  }

  private GenerationSettings options(Fields request, int[] prompt, OptionalInt topLogprobs) {
    requireTokens(prompt);
    OptionalInt maxTokens = maxTokens(request);
    return service.options(prompt, maxTokens, Sampling.read(request, vocabulary()), topLogprobs);
  }

  private GenerationSettings chatOptions(Fields request, int[] prompt, OptionalInt topLogprobs) {
    requireTokens(prompt);
    return service.chatOptions(
        prompt, maxTokens(request), Sampling.read(request, vocabulary()), topLogprobs);
  }

  private static void requireTokens(int[] prompt) {
    if (prompt.length == 0) {
      throw ApiException.invalid("the prompt is empty; at least one token is needed");
    }
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
