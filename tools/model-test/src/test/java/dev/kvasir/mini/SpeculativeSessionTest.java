package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonParser;
import dev.kvasir.ChatModel;
import dev.kvasir.ChatRequest;
import dev.kvasir.ChatResponse;
import dev.kvasir.Generation;
import dev.kvasir.GenerationListener;
import dev.kvasir.LoadOptions.Speculation;
import dev.kvasir.SamplingOptions;
import dev.kvasir.SessionOptions;
import dev.kvasir.TokenLogprob;
import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.grammar.JsonGrammar;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sessions and conversations are the same with and without speculation, but for their drafts. */
class SpeculativeSessionTest {
  private static final String PROMPT =
      "Once upon a time there was a little girl who had a red ball. The little girl who had a red"
          + " ball went to the park. Once upon a time there was a little";

  private static final String SCHEMA =
      """
      {"type": "array", "items": {"type": "object", "required": ["name"],
       "properties": {"name": {"enum": ["red ball", "little girl"]}}}, "minItems": 3, "maxItems": 3}
      """;

  @TempDir private static Path folder;
  private static LoadedModel plain;
  private static LoadedModel ngram;
  private static LoadedModel drafted;

  @BeforeAll
  static void open() {
    plain = open(Speculation.off());
    ngram = open(Speculation.ngram());
    Path shallow = ShallowModel.write(folder.resolve("shallow.gguf"));
    drafted = open(Speculation.draftModel(shallow));
  }

  private static LoadedModel open(Speculation speculation) {
    return LoadedModel.bundled(EngineOptions.defaults().withSpeculation(speculation));
  }

  @AfterAll
  static void close() {
    plain.close();
    ngram.close();
    drafted.close();
  }

  /** A text with its logprobs, the bytes of its cache, and its drafts. */
  private record Answer(
      String text, List<TokenLogprob> logprobs, List<String> cache, Generation.Drafts drafts) {}

  private static Answer answer(
      LoadedModel model, String spec, String prompt, GenerationSettings settings) {
    SessionOptions options = SessionOptions.builder().cache(CacheSpec.parse(spec)).build();
    try (ModelSession session = model.newSession(options)) {
      List<TokenLogprob> logprobs = new ArrayList<>();
      Generation made = session.generate(prompt, settings, listener(logprobs));
      return new Answer(made.text(), logprobs, bytes(session.cache().snapshot()), made.drafts());
    }
  }

  private static List<String> bytes(CacheSnapshot snapshot) {
    List<String> bytes = new ArrayList<>();
    for (int i = 0; i < snapshot.blocks(); i++) {
      bytes.add(HexFormat.of().formatHex(snapshot.block(i)));
    }
    bytes.add(HexFormat.of().formatHex(snapshot.residual()));
    return bytes;
  }

  private static GenerationListener listener(List<TokenLogprob> logprobs) {
    return new GenerationListener() {
      @Override
      public void text(String piece) {}

      @Override
      public void logprob(TokenLogprob token) {
        logprobs.add(token);
      }
    };
  }

  private static GenerationSettings settings(double temperature) {
    SamplingOptions sampling =
        SamplingOptions.builder().temperature(temperature).repetitionPenalty(1.05).seed(3).build();
    return new GenerationSettings(48, sampling).withTopLogprobs(1);
  }

  private static void requireSame(Answer actual, Answer expected) {
    assertThat(actual.text()).isEqualTo(expected.text());
    assertThat(actual.logprobs()).isEqualTo(expected.logprobs());
    assertThat(actual.cache()).isEqualTo(expected.cache());
  }

  /** Prompts end shortly before a page is quantized, so that drafts are checked around it. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"fp16 | 3", "kivi:2,window=0 | 7", "mead:2,window=40 | 4", "mixkvq,window=40 | 7"})
  void textsLogprobsAndCachesAreTheSame(String spec, int repeats) {
    int proposed = 0;
    for (double temperature : new double[] {0, 0.6}) {
      GenerationSettings settings = settings(temperature);
      String prompt = PROMPT.repeat(repeats);
      Answer expected = answer(plain, spec, prompt, settings);
      if (!spec.equals("fp16")) {
        assertThat(expected.cache()).as("blocks and the rest").hasSizeGreaterThan(1);
      }
      assertThat(expected.drafts()).isEqualTo(new Generation.Drafts(0, 0));
      for (LoadedModel model : List.of(ngram, drafted)) {
        Answer actual = answer(model, spec, prompt, settings);
        requireSame(actual, expected);
        proposed += actual.drafts().proposedTokens();
      }
    }
    assertThat(proposed).isPositive();
  }

  @Test
  void draftsCountTowardsTheMemoryOfAllCaches() {
    SessionOptions options = SessionOptions.defaults();
    long draftBytes = drafted.maxCacheBytes(options, 256) - plain.maxCacheBytes(options, 256);
    assertThat(draftBytes).isPositive();
    long before = drafted.cacheMemory().usedBytes();
    try (ModelSession session = drafted.newSession(options)) {
      session.generate(PROMPT, settings(0), listener(new ArrayList<>()));
      long taken = drafted.cacheMemory().usedBytes() - before;
      assertThat(taken - session.cacheBytes()).isPositive().isLessThanOrEqualTo(draftBytes);
    }
    assertThat(drafted.cacheMemory().usedBytes()).isEqualTo(before);
  }

  @Test
  void aGrammarConstrainsDraftsToo() {
    GenerationSettings settings =
        settings(0.8)
            .withGrammar(
                JsonGrammar.of(JsonParser.parseString(SCHEMA).getAsJsonObject())
                    .forTokenizer(plain.tokenizer()));
    Answer expected = answer(plain, "kivi:4", PROMPT, settings);
    for (LoadedModel model : List.of(ngram, drafted)) {
      requireSame(answer(model, "kivi:4", PROMPT, settings), expected);
    }
  }

  @Test
  void aNextTurnHitsThePrefixOfASpeculatedOne() {
    int[] text = plain.encode(PROMPT.repeat(4));
    List<String> texts = new ArrayList<>();
    List<Integer> hits = new ArrayList<>();
    for (LoadedModel model : List.of(plain, ngram)) {
      SessionOptions options = SessionOptions.builder().cache(CacheSpec.parse("kivi:2")).build();
      try (ModelSession session = model.newSession(options, text, null)) {
        texts.add(session.generate(new int[0], settings(0), piece -> {}).text());
      }
      int[] longer = plain.encode(PROMPT.repeat(4) + texts.getLast() + PROMPT);
      try (ModelSession session = model.newSession(options, longer, null)) {
        hits.add(session.cachedTokens());
        texts.add(session.generate(new int[0], settings(0.6), piece -> {}).text());
      }
    }
    assertThat(texts.subList(2, 4)).isEqualTo(texts.subList(0, 2));
    assertThat(hits.get(0)).isPositive().isEqualTo(hits.get(1));
  }

  @Test
  void aRestoredSessionContinuesTheSame() {
    Path file = folder.resolve("turn");
    SessionOptions options = SessionOptions.builder().cache(CacheSpec.parse("mead:2")).build();
    try (ModelSession session = ngram.newSession(options)) {
      session.generate(PROMPT, settings(0), piece -> {});
      session.save(file);
    }
    String expected;
    try (ModelSession session = plain.restore(file)) {
      expected = session.generate(PROMPT, settings(0), piece -> {}).text();
    }
    try (ModelSession session = ngram.restore(file)) {
      assertThat(session.generate(PROMPT, settings(0), piece -> {}).text()).isEqualTo(expected);
    }
  }

  @Test
  void aStopSequenceEndsAConversationAtTheSameToken() {
    ChatRequest request =
        ChatRequest.builder()
            .user(PROMPT)
            .temperature(0)
            .stopSequences(List.of(" and "))
            .maxTokens(60)
            .build();
    List<ChatResponse> responses = new ArrayList<>();
    for (LoadedModel model : List.of(plain, ngram)) {
      try (ChatModel chat = ChatModel.builder().model(model).cache("kivi:4").build()) {
        responses.add(chat.chat(request));
      }
    }
    assertThat(responses.get(1).text()).isEqualTo(responses.get(0).text());
    assertThat(responses.get(1).usage().generatedTokens())
        .isEqualTo(responses.get(0).usage().generatedTokens());
  }
}
