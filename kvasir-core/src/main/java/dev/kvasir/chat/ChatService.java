package dev.kvasir.chat;

import dev.kvasir.ChatRequest;
import dev.kvasir.KvasirException;
import dev.kvasir.SamplingOptions;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.chat.PromptRenderer.ChatPrompt;
import dev.kvasir.chat.syntax.MessageSyntax;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.grammar.TokenGrammar;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.text.Tokenizer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Serves chat requests of one model. Requests from several threads share batches, cached prefixes
 * and the KV-cache memory. Closing it ends all completions; the model stays open.
 */
public final class ChatService implements AutoCloseable {
  /** A prompt of one token and its answer. */
  private static final int SHORTEST_SEQUENCE_TOKENS = 2;

  private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(10);

  private final ServedModel served;
  private final int defaultMaxTokens;
  private final Admission admission;
  private final RequestQueue queue;
  private final PromptRenderer prompts;
  private final GrammarCache grammars;
  private final VectorService vectors;
  private final Set<Integer> visibleTokens; // those that have a meaning to the parser

  /**
   * @throws InvalidInputException if the memory holds no sequence at all
   */
  public ChatService(LoadedModel model, ServingOptions options, CompletionObserver observer) {
    int context = Math.min(options.contextLimit(), model.config().contextLength());
    served = ServedModel.of(model, options.cacheSpecs(), context, options.toolFormat());
    defaultMaxTokens = options.defaultMaxTokens();
    admission =
        new Admission(sequenceBytes(model, options), options.maxSequences(), options.maxQueued());
    queue = new RequestQueue(model, context, admission, observer, options.timeout());
    prompts = new PromptRenderer(served);
    grammars = new GrammarCache(model.tokenizer(), served.syntax());
    vectors = VectorService.of(model, admission, options);
    visibleTokens = visibleTokens(model.tokenizer(), served.syntax());
  }

  private static Set<Integer> visibleTokens(Tokenizer tokenizer, MessageSyntax syntax) {
    return syntax.markers().stream()
        .map(tokenizer::specialToken)
        .filter(OptionalInt::isPresent)
        .map(OptionalInt::getAsInt)
        .filter(id -> !tokenizer.endOfText().contains(id))
        .collect(Collectors.toSet());
  }

  /**
   * Returns the bytes left for sequences. Tables that all sequences of a cache spec share stay
   * allocated.
   */
  private static long sequenceBytes(LoadedModel model, ServingOptions options) {
    long tables = options.cacheSpecs().stream().mapToLong(model::sharedCacheBytes).sum();
    long limit = model.cacheMemory().limit();
    if (tables >= limit) {
      throw new InvalidInputException(
          "the tables of the caches %s take %d bytes; the memory of all caches is %d"
              .formatted(options.cacheSpecs(), tables, limit));
    }
    options.cacheSpecs().forEach(spec -> requireCapacity(model, spec, limit - tables));
    return limit - tables;
  }

  /** Rejects a cache of which not even the shortest sequence fits. */
  private static void requireCapacity(LoadedModel model, CacheSpec spec, long limit) {
    long least =
        model.maxCacheBytes(SessionOptions.builder().cache(spec).build(), SHORTEST_SEQUENCE_TOKENS);
    if (least > limit) {
      throw new InvalidInputException(
          "the memory of all caches has %d bytes for sequences; the shortest one with '%s' takes %d"
              .formatted(limit, spec, least));
    }
  }

  public ServedModel served() {
    return served;
  }

  public Admission admission() {
    return admission;
  }

  public RequestQueue queue() {
    return queue;
  }

  public PromptRenderer prompts() {
    return prompts;
  }

  public GrammarCache grammars() {
    return grammars;
  }

  /** Returns the service of embeddings and scores, which has the same admission. */
  public VectorService vectors() {
    return vectors;
  }

  /**
   * Renders a conversation to a request of the queue.
   *
   * @throws KvasirException if the request is invalid
   */
  public CompletionRequest prepare(ChatRequest request) {
    try {
      ToolSet tools = ToolSet.of(request);
      ChatPrompt prompt =
          prompts.render(
              MessageVariables.of(request.messages()), tools, request.templateVariables());
      request.sampling().checkTokens(served.model().config().vocabulary());
      GenerationSettings options =
          chatOptions(
              prompt.tokens(), request.maxTokens(), request.sampling(), request.topLogprobs());
      Optional<TokenGrammar> grammar =
          grammars.of(request.format(), tools, prompt.parserOptions().startsInReasoning());
      List<String> stopSequences =
          Stream.concat(request.stopSequences().stream(), prompt.stopSequences().stream()).toList();
      return new CompletionRequest(
          prompt.tokens(),
          served.cacheSpec(request.model(), request.cache()),
          grammar.map(options::withGrammar).orElse(options),
          1,
          stopSequences,
          request.conversation(),
          request.tenant(),
          prompt.parserOptions());
    } catch (InvalidInputException | IllegalArgumentException e) {
      throw new KvasirException(KvasirException.Reason.INVALID_INPUT, e.getMessage(), e);
    }
  }

  /**
   * Returns generation options that keep to the context.
   *
   * @param maxTokens empty for the default
   * @throws InvalidInputException if the prompt is empty
   */
  public GenerationSettings options(
      int[] prompt, OptionalInt maxTokens, SamplingOptions sampling, OptionalInt topLogprobs) {
    if (prompt.length == 0) {
      throw new InvalidInputException("the prompt is empty; at least one token is needed");
    }
    int max = Math.max(1, served.contextLimit() - prompt.length);
    int wanted = maxTokens.orElse(defaultMaxTokens);
    return new GenerationSettings(Math.min(max, wanted), sampling, Optional.empty(), topLogprobs);
  }

  /**
   * Returns generation options of a conversation: its text has the special tokens that mark tool
   * calls and reasoning.
   *
   * @param maxTokens empty for the default
   * @throws InvalidInputException if the prompt is empty
   */
  public GenerationSettings chatOptions(
      int[] prompt, OptionalInt maxTokens, SamplingOptions sampling, OptionalInt topLogprobs) {
    return options(prompt, maxTokens, sampling, topLogprobs).withVisibleTokens(visibleTokens);
  }

  /** Ends all completions with an error and waits for them. */
  @Override
  public void close() {
    try {
      queue.stop(SHUTDOWN_TIMEOUT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
