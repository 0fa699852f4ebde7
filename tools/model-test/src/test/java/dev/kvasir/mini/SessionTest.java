package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.kvasir.Generation;
import dev.kvasir.Generation.Finish;
import dev.kvasir.GenerationListener;
import dev.kvasir.KvasirException;
import dev.kvasir.SamplingOptions;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Message;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Typical uses of a model by an application. */
class SessionTest {
  private static final String PROMPT = "Once upon a time there was a little";
  private static final GenerationListener SILENT = piece -> {};
  private static final GenerationSettings GREEDY = GenerationSettings.greedy();
  private static final SamplingOptions WARM =
      SamplingOptions.greedy().toBuilder().temperature(1).topP(0.9).seed(7).build();

  private static LoadedModel model;

  @BeforeAll
  static void load() {
    model = LoadedModel.bundled();
  }

  @AfterAll
  static void close() {
    model.close();
  }

  @Test
  void tenLinesGenerateText() {
    StringBuilder streamed = new StringBuilder();
    try (LoadedModel ours = LoadedModel.bundled();
        ModelSession session = ours.newSession()) {
      Generation generation =
          session.generate(PROMPT, GenerationSettings.greedy().withMaxTokens(20), streamed::append);
      assertThat(generation.text()).isNotBlank().isEqualTo(streamed.toString());
      assertThat(generation.promptTokens()).isEqualTo(ours.tokenizer().encode(PROMPT).length);
      assertThat(generation.generatedTokens()).isEqualTo(20);
      assertThat(generation.finish()).isEqualTo(Finish.MAX_TOKENS);
      assertThat(session.length()).isEqualTo(generation.promptTokens() + 20);
    }
  }

  @Test
  void theSameSeedGivesTheSameTextAndAnotherOneAnother() {
    String first = text(PROMPT, GREEDY.withMaxTokens(40).withSampling(WARM));
    assertThat(text(PROMPT, GREEDY.withMaxTokens(40).withSampling(WARM))).isEqualTo(first);
    assertThat(
            text(PROMPT, GREEDY.withMaxTokens(40).withSampling(WARM.toBuilder().seed(8).build())))
        .isNotEqualTo(first);
  }

  @Test
  void sessionsOnSeveralThreadsGiveTheTextsTheyGiveAlone() {
    List<String> prompts = List.of(PROMPT, "The sea was calm and", "Drill modulo 100:\n12+34=");
    GenerationSettings options = GREEDY.withMaxTokens(30).withSampling(WARM);
    List<String> alone = prompts.stream().map(prompt -> text(prompt, options)).toList();
    List<CompletableFuture<String>> together = new ArrayList<>();
    for (String prompt : prompts) {
      CompletableFuture<String> result = new CompletableFuture<>();
      together.add(result);
      Thread.ofPlatform()
          .uncaughtExceptionHandler((thread, e) -> result.completeExceptionally(e))
          .start(() -> result.complete(text(prompt, options)));
    }
    assertThat(together.stream().map(CompletableFuture::join)).isEqualTo(alone);
  }

  /** With quantized pages and without. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2,window=0",
        "patternkv:2,window=0",
        "mixkvq,window=0,sinks=0",
        "pmkvq:2,budget=2MiB,window=0",
        "commvq:1,window=0,sinks=0"
      })
  void aStepOverSeveralSessionsGivesEachTheLogitsItHasAlone(String spec) {
    List<int[]> texts = new ArrayList<>();
    for (String text : List.of(PROMPT.repeat(20), "The sea was calm and", "No one")) {
      texts.add(model.tokenizer().encode(text));
    }
    CacheSpec cache = CacheSpec.parse(spec);
    List<float[]> alone =
        texts.stream().map(ids -> lastLogits(cache, List.of(ids)).getFirst()).toList();
    List<float[]> together = lastLogits(cache, texts);
    for (int i = 0; i < texts.size(); i++) {
      assertThat(together.get(i)).isEqualTo(alone.get(i));
    }
  }

  /** Prefills all but the last token of each text separately, and the last ones in one batch. */
  private static List<float[]> lastLogits(CacheSpec spec, List<int[]> texts) {
    List<KvCache> caches = new ArrayList<>();
    Batch batch = new Batch();
    for (int[] ids : texts) {
      KvCache cache = model.newCache(spec);
      caches.add(cache);
      batch.clear();
      for (int id : Arrays.copyOf(ids, ids.length - 1)) {
        batch.add(cache, id, false);
      }
      model.forward(batch);
    }
    batch.clear();
    for (int i = 0; i < texts.size(); i++) {
      int[] ids = texts.get(i);
      batch.add(caches.get(i), ids[ids.length - 1], true);
    }
    model.forward(batch);
    List<float[]> logits = new ArrayList<>();
    for (int i = 0; i < texts.size(); i++) {
      int at = batch.logitsAt(i);
      logits.add(Arrays.copyOfRange(batch.logits(), at, at + batch.vocabulary()));
    }
    caches.forEach(KvCache::close);
    return logits;
  }

  @Test
  void aGrowingConversationPrefillsOnlyItsNewMessages() {
    ChatTemplate template = ChatTemplate.plain();
    List<Message> first =
        List.of(
            Message.system("You are a patient teller of long tales. ".repeat(10)),
            Message.user("Tell me of the sea."));
    try (ModelSession session = model.newSession();
        ModelSession fresh = model.newSession()) {
      Generation opening = session.chat(first, template, GREEDY.withMaxTokens(24), SILENT);
      List<Message> second = new ArrayList<>(first);
      second.add(new Message("assistant", opening.text().strip()));
      second.add(Message.user("And of the moon?"));
      GenerationSettings oneToken = GREEDY.withMaxTokens(1);
      Generation answer = session.chat(second, template, oneToken, SILENT);
      Generation anew = fresh.chat(second, template, oneToken, SILENT);
      assertThat(opening.promptTokens()).isGreaterThan(80);
      assertThat(answer.promptTokens()).isLessThan(60);
      assertThat(anew.promptTokens()).isGreaterThan(opening.promptTokens());
      assertThat(session.length()).isEqualTo(fresh.length());
      assertThat(answer.text()).isEqualTo(anew.text());
      // Decoding uses quantized activations and prefill does not: 0.2 apart here, where logits span
      // some 30.
      assertThat(distance(nextLogits(session), nextLogits(fresh))).isLessThan(1);
    }
  }

  private static float[] nextLogits(ModelSession session) {
    Batch batch = new Batch();
    batch.add(session.cache(), 65, true);
    model.forward(batch);
    return Arrays.copyOf(batch.logits(), batch.vocabulary());
  }

  private static float distance(float[] a, float[] b) {
    float most = 0;
    for (int i = 0; i < a.length; i++) {
      most = Math.max(most, Math.abs(a[i] - b[i]));
    }
    return most;
  }

  @Test
  void aConversationAskedAgainIsAnsweredAgain() {
    List<Message> messages = List.of(Message.user("Tell me of the sea."));
    try (ModelSession session = model.newSession()) {
      GenerationSettings options = GREEDY.withMaxTokens(12);
      Generation first = session.chat(messages, ChatTemplate.plain(), options, SILENT);
      Generation again = session.chat(messages, ChatTemplate.plain(), options, SILENT);
      assertThat(again.text()).isEqualTo(first.text());
      assertThat(again.promptTokens()).isLessThanOrEqualTo(1);
    }
  }

  @Test
  void generationsInTurnAreOneLongGeneration() {
    try (ModelSession session = model.newSession()) {
      StringBuilder parts = new StringBuilder();
      parts.append(session.generate(PROMPT, GREEDY.withMaxTokens(7), SILENT).text());
      parts.append(session.generate("", GREEDY.withMaxTokens(1), SILENT).text());
      parts.append(session.generate(new int[0], GREEDY.withMaxTokens(22), SILENT).text());
      assertThat(parts.toString()).isEqualTo(text(PROMPT, GREEDY.withMaxTokens(30)));
    }
  }

  @Test
  void stoppingWhileTextIsWrittenLosesNothing() {
    try (ModelSession session = model.newSession()) {
      Generation begun = session.generate(PROMPT, GREEDY.withMaxTokens(30), stopAfterPieces(5));
      assertThat(begun.finish()).isEqualTo(Finish.STOPPED);
      assertThat(begun.generatedTokens()).isBetween(1, 29);
      int rest = 30 - begun.generatedTokens();
      Generation ended = session.generate("", GREEDY.withMaxTokens(rest), SILENT);
      assertThat(begun.text() + ended.text()).isEqualTo(text(PROMPT, GREEDY.withMaxTokens(30)));
    }
  }

  @Test
  void stoppingWhileThePromptIsReadLosesNothing() {
    int[] prompt = model.tokenizer().encode((PROMPT + " house. ").repeat(60));
    assertThat(prompt.length).isGreaterThan(512);
    GenerationSettings options = GREEDY.withMaxTokens(10);
    try (ModelSession session = model.newSession();
        ModelSession whole = model.newSession()) {
      Generation stopped = session.generate(prompt, options, stopAfterPromptSteps(1));
      assertThat(stopped.finish()).isEqualTo(Finish.STOPPED);
      assertThat(stopped.generatedTokens()).isZero();
      assertThat(session.length()).isEqualTo(prompt.length);
      assertThat(stopped.promptTokens()).isEqualTo(session.cache().length());
      Generation resumed = session.generate("", options, SILENT);
      assertThat(resumed.promptTokens()).isEqualTo(prompt.length - stopped.promptTokens());
      assertThat(resumed.text()).isEqualTo(whole.generate(prompt, options, SILENT).text());
    }
  }

  @Test
  void stoppingBeforeTheNextPromptKeepsTheLastToken() {
    try (ModelSession session = model.newSession()) {
      String begun = session.generate(PROMPT, GREEDY.withMaxTokens(10), SILENT).text();
      session.generate("", GREEDY, stopAfterPromptSteps(0));
      String ended = session.generate("", GREEDY.withMaxTokens(10), SILENT).text();
      assertThat(begun + ended).isEqualTo(text(PROMPT, GREEDY.withMaxTokens(20)));
    }
  }

  private static GenerationListener stopAfterPieces(int pieces) {
    return new GenerationListener() {
      private int seen;

      @Override
      public void text(String piece) {
        seen++;
      }

      @Override
      public boolean stopped() {
        return seen >= pieces;
      }
    };
  }

  private static GenerationListener stopAfterPromptSteps(int steps) {
    return new GenerationListener() {
      private int seen;

      @Override
      public void text(String piece) {}

      @Override
      public void promptProgress(int tokensDone, int tokensInAll) {
        seen++;
      }

      @Override
      public boolean stopped() {
        return seen >= steps;
      }
    };
  }

  @Test
  void aListenerThatFailsLeavesTheSessionAsItWas() {
    try (ModelSession session = model.newSession()) {
      GenerationListener failing =
          piece -> {
            throw new UnsupportedOperationException("no room on the screen");
          };
      assertThatThrownBy(() -> session.generate(PROMPT, GREEDY.withMaxTokens(5), failing))
          .isInstanceOf(UnsupportedOperationException.class);
      int generated = session.length() - model.tokenizer().encode(PROMPT).length;
      String whole = text(PROMPT, GREEDY.withMaxTokens(generated + 10));
      String rest = session.generate("", GREEDY.withMaxTokens(10), SILENT).text();
      assertThat(rest).isNotEmpty();
      assertThat(whole).endsWith(rest);
    }
  }

  @Test
  void aPromptThatIsTooLongIsRefusedAndChangesNothing() {
    try (ModelSession session =
        model.newSession(SessionOptions.builder().contextLimit(20).build())) {
      int[] tooMany = new int[20];
      assertThatThrownBy(() -> session.generate(tooMany, GREEDY, SILENT))
          .isInstanceOfSatisfying(
              InvalidInputException.class,
              e -> assertThat(e.reason()).isEqualTo(KvasirException.Reason.TOO_LONG))
          .hasMessage("the prompt has 20 tokens; the context has room for 19 and one to generate");
      assertThat(session.length()).isZero();
      int held = session.generate(PROMPT, GREEDY.withMaxTokens(2), SILENT).promptTokens() + 2;
      assertThatThrownBy(() -> session.generate(tooMany, GREEDY, SILENT))
          .isInstanceOf(InvalidInputException.class)
          .hasMessage(
              "the prompt has 20 tokens after %d that the session holds;"
                  + " the context has room for %d and one to generate",
              held, 19 - held);
      List<Message> tale = List.of(Message.user(PROMPT.repeat(9)));
      assertThatThrownBy(() -> session.chat(tale, ChatTemplate.plain(), GREEDY, SILENT))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageContaining("; the context has room for ");
      assertThat(session.length()).isEqualTo(held);
    }
  }

  @Test
  void aFullContextEndsTheGeneration() {
    try (ModelSession session =
        model.newSession(SessionOptions.builder().contextLimit(20).build())) {
      Generation generation = session.generate(PROMPT, GREEDY, SILENT);
      assertThat(generation.finish()).isEqualTo(Finish.CONTEXT_FULL);
      assertThat(session.length()).isEqualTo(20);
      assertThat(text(PROMPT, GREEDY.withMaxTokens(generation.generatedTokens())))
          .isEqualTo(generation.text());
    }
  }

  @Test
  void anEmptyPromptWithNothingBeforeItIsRefused() {
    try (ModelSession session = model.newSession()) {
      assertThatThrownBy(() -> session.generate(new int[0], GREEDY, SILENT))
          .isInstanceOf(InvalidInputException.class)
          .hasMessage("the prompt is empty; at least one token is needed");
    }
  }

  @Test
  void aTokenThatTheModelDoesNotHaveIsRefusedAndChangesNothing() {
    try (ModelSession session = model.newSession()) {
      int vocabulary = model.config().vocabulary();
      for (int bad : new int[] {-1, vocabulary}) {
        assertThatThrownBy(() -> session.generate(new int[] {5, bad}, GREEDY, SILENT))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage("token is %d; expected 0 to %d", bad, vocabulary - 1);
      }
      assertThat(session.length()).isZero();
      assertThat(session.generate(PROMPT, GREEDY.withMaxTokens(5), SILENT).text())
          .isEqualTo(text(PROMPT, GREEDY.withMaxTokens(5)));
    }
  }

  @Test
  void aSessionThatWasResetStartsOver() {
    try (ModelSession session = model.newSession()) {
      String first = session.generate(PROMPT, GREEDY.withMaxTokens(10), SILENT).text();
      session.reset();
      assertThat(session.length()).isZero();
      assertThat(session.cache().bytes().total()).isZero();
      assertThat(session.generate(PROMPT, GREEDY.withMaxTokens(10), SILENT).text())
          .isEqualTo(first);
    }
  }

  @Test
  void useOfAClosedSessionIsReported() {
    ModelSession session = model.newSession();
    session.close();
    session.close();
    List<Message> messages = List.of(Message.user("Hello"));
    for (Throwable thrown :
        List.of(
            catchThrowable(() -> session.generate(PROMPT, GREEDY, SILENT)),
            catchThrowable(() -> session.generate(new int[] {1}, GREEDY, SILENT)),
            catchThrowable(() -> session.chat(messages, ChatTemplate.plain(), GREEDY, SILENT)),
            catchThrowable(session::reset))) {
      assertThat(thrown)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("this session is closed");
    }
  }

  @Test
  void useOfAClosedModelIsReportedAndItsSessionsStillClose() {
    long before = CountedArena.liveBytes();
    LoadedModel ours = LoadedModel.bundled();
    ModelSession session = ours.newSession();
    session.generate(PROMPT, GREEDY.withMaxTokens(2), SILENT);
    ours.close();
    ours.close();
    List<Message> messages = List.of(Message.user("Hello"));
    for (Throwable thrown :
        List.of(
            catchThrowable(() -> session.generate(PROMPT, GREEDY, SILENT)),
            catchThrowable(() -> session.generate(new int[] {1}, GREEDY, SILENT)),
            catchThrowable(() -> session.chat(messages, ChatTemplate.plain(), GREEDY, SILENT)),
            catchThrowable(ours::newSession),
            catchThrowable(() -> ours.forward(new Batch())))) {
      assertThat(thrown)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("this model is closed");
    }
    session.close();
    assertThat(CountedArena.liveBytes()).isEqualTo(before);
  }

  @Test
  void closingFreesAll() {
    long bytes = CountedArena.liveBytes();
    long arenas = CountedArena.liveArenas();
    try (LoadedModel ours = LoadedModel.bundled();
        ModelSession session = ours.newSession()) {
      session.generate(PROMPT, GREEDY.withMaxTokens(5), SILENT);
      assertThat(CountedArena.liveBytes() - bytes).isGreaterThan(session.cache().bytes().total());
    }
    assertThat(CountedArena.liveBytes()).isEqualTo(bytes);
    assertThat(CountedArena.liveArenas()).isEqualTo(arenas);
  }

  @Test
  void aSecondThreadInASessionIsRefused() throws InterruptedException {
    try (ModelSession session = model.newSession()) {
      List<Throwable> thrown = new ArrayList<>();
      AtomicReference<Thread> intruder = new AtomicReference<>();
      GenerationListener listener =
          piece -> {
            if (intruder.get() == null) {
              intruder.set(
                  Thread.ofPlatform()
                      .start(
                          () -> {
                            thrown.add(
                                catchThrowable(() -> session.generate(PROMPT, GREEDY, SILENT)));
                            thrown.add(catchThrowable(session::reset));
                            thrown.add(catchThrowable(session::close));
                          }));
              join(intruder.get());
            }
          };
      Generation generation = session.generate(PROMPT, GREEDY.withMaxTokens(10), listener);
      assertThat(thrown)
          .hasSize(3)
          .allSatisfy(
              e ->
                  assertThat(e)
                      .isInstanceOf(IllegalStateException.class)
                      .hasMessage("this session is in use by another thread"));
      assertThat(generation.text()).isEqualTo(text(PROMPT, GREEDY.withMaxTokens(10)));
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String text(String prompt, GenerationSettings options) {
    try (ModelSession session = model.newSession()) {
      return session.generate(prompt, options, SILENT).text();
    }
  }
}
