package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import dev.kvasir.GenerateOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.grammar.TokenGrammar;
import dev.kvasir.sampling.SamplingOptions;
import dev.kvasir.server.answer.AnswerRequest;
import dev.kvasir.server.answer.AnswerRequest.Splitting;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import dev.kvasir.text.ChatTemplate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Reads requests of the OpenAI interface. What it does not know is ignored, as clients expect. */
public final class RequestReader {
  private static final int MOST_CHOICES = 16;
  private static final int MOST_STOPS = 16;
  private static final int LONGEST_STOP = 1000;
  private static final int LONGEST_CONVERSATION = 200;

  private final ServedModel served;
  private final int answerTokens;
  private final Grammars grammars;
  private volatile ChatTemplate template; // null until there was a conversation

  /**
   * @param answerTokens of an answer whose request sets no bound
   */
  public RequestReader(ServedModel served, int answerTokens) {
    this.served = served;
    this.answerTokens = answerTokens;
    this.grammars = new Grammars(served.model().tokenizer());
  }

  /** A conversation to answer. */
  public AnswerRequest chat(Fields request) {
    Tools tools = Tools.read(request);
    String text = render(ChatMessages.read(request), tools);
    int[] prompt = served.model().tokenizer().encode(text, !served.chats());
    boolean beginsThinking = text.stripTrailing().endsWith("<think>");
    Splitting splitting = new Splitting(true, beginsThinking, tools.syntax());
    List<String> stops = new ArrayList<>(stops(request));
    if (!served.chats()) {
      stops.add("\nUser:"); // a model that knows no turns goes on to write the next one
    }
    GenerateOptions options = options(request, prompt, Likelihoods.ofChat(request));
    Optional<TokenGrammar> grammar = grammars.of(request, tools);
    return request(
        request, prompt, grammar.map(options::withGrammar).orElse(options), stops, splitting);
  }

  private String render(List<Map<String, Object>> messages, Tools tools) {
    boolean templateTells = tools.isEmpty() || served.templateTakesTools();
    List<Map<String, Object>> told = templateTells ? messages : tools.instructing(messages);
    List<Map<String, Object>> variables =
        tools.isEmpty() || !templateTells ? List.of() : tools.variables();
    try {
      return template().render(new ChatTemplate.Input(told, variables, true));
    } catch (InvalidInputException e) {
      throw ChatMessages.refused(e);
    }
  }

  /** Parsed once; a model whose template cannot be read still continues texts. */
  private ChatTemplate template() {
    if (template == null) {
      template = served.template();
    }
    return template;
  }

  /** A text to continue. */
  public AnswerRequest completion(Fields request) {
    JsonElement prompt =
        request
            .element("prompt")
            .orElseThrow(() -> request.missing("prompt", "a text or a list of token ids"));
    int[] tokens = tokens(request, prompt);
    GenerateOptions options = options(request, tokens, Likelihoods.ofText(request));
    Optional<TokenGrammar> grammar = grammars.of(request, Tools.NONE);
    return request(
        request,
        tokens,
        grammar.map(options::withGrammar).orElse(options),
        stops(request),
        Splitting.NONE);
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

  private AnswerRequest request(
      Fields request,
      int[] prompt,
      GenerateOptions options,
      List<String> stops,
      Splitting splitting) {
    CacheSpec kind = served.kind(request);
    return new AnswerRequest(
        prompt,
        kind,
        options,
        request.integer("n", 1, MOST_CHOICES).orElse(1),
        stops,
        conversation(request),
        "",
        splitting);
  }

  private GenerateOptions options(Fields request, int[] prompt, OptionalInt likelihoods) {
    if (prompt.length == 0) {
      throw ApiException.invalid("the prompt is empty; at least one token is needed");
    }
    int most = Math.max(1, served.contextLimit() - prompt.length);
    int wanted = maxTokens(request).orElse(answerTokens);
    SamplingOptions sampling = Sampling.read(request, served.model().config().vocabulary());
    return new GenerateOptions(Math.min(most, wanted), sampling, Optional.empty(), likelihoods);
  }

  private static OptionalInt maxTokens(Fields request) {
    OptionalInt wanted = request.integer("max_completion_tokens", 1, Integer.MAX_VALUE);
    return wanted.isPresent() ? wanted : request.integer("max_tokens", 1, Integer.MAX_VALUE);
  }

  private static Optional<String> conversation(Fields request) {
    Optional<String> key = request.string("prompt_cache_key").filter(text -> !text.isBlank());
    if (key.filter(text -> text.length() > LONGEST_CONVERSATION).isPresent()) {
      throw ApiException.invalidField(
          "prompt_cache_key",
          "prompt_cache_key has %d characters; expected at most %d"
              .formatted(key.get().length(), LONGEST_CONVERSATION));
    }
    return key;
  }

  private static List<String> stops(Fields request) {
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
    List<String> stops = new ArrayList<>();
    for (JsonElement phrase : list) {
      boolean good =
          phrase.isJsonPrimitive()
              && phrase.getAsJsonPrimitive().isString()
              && phrase.getAsString().length() <= LONGEST_STOP;
      if (!good || stops.size() == MOST_STOPS) {
        throw request.wrong(
            "stop",
            stop.get(),
            "up to %d texts of %d characters at the most".formatted(MOST_STOPS, LONGEST_STOP));
      }
      if (!phrase.getAsString().isEmpty()) {
        stops.add(phrase.getAsString());
      }
    }
    return List.copyOf(stops);
  }
}
