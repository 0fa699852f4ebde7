package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Generation;
import dev.kvasir.Generation.Finish;
import dev.kvasir.GenerationListener;
import dev.kvasir.SamplingOptions;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.TooLongException;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.function.Supplier;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Concurrent sessions share batches without affecting each other. */
class BatchedSessionsTest {
  private static final SamplingOptions WARM =
      SamplingOptions.greedy().toBuilder().temperature(0.8).build();

  @TempDir private static Path folder;
  private static LoadedModel model;

  @BeforeAll
  static void load() {
    model = LoadedModel.load(ShallowModel.write(folder.resolve("shallow.gguf")));
  }

  @AfterAll
  static void close() {
    model.close();
  }

  /**
   * A conversation: a prompt whose answer is stopped after some tokens, and a second prompt.
   *
   * @param stopAfter chunks of text after which the listener stops the first answer
   */
  private record Talk(String prompt, String second, int stopAfter, long seed) {
    List<String> with(LoadedModel model, CacheSpec spec) {
      GenerationSettings options =
          GenerationSettings.defaults()
              .withMaxTokens(24)
              .withSampling(WARM.toBuilder().seed(seed).build());
      List<String> texts = new ArrayList<>();
      try (ModelSession session = model.newSession(SessionOptions.builder().cache(spec).build())) {
        Generation first = session.generate(prompt, options, new Stopping(stopAfter));
        texts.add(first.text());
        texts.add(first.finish().toString());
        texts.add(session.generate(second, options, piece -> {}).text());
        texts.add(Double.toString(session.bitsPerValue()));
      }
      return texts;
    }
  }

  /** Stops after a number of chunks. */
  private static final class Stopping implements GenerationListener {
    private int left;

    Stopping(int pieces) {
      this.left = pieces;
    }

    @Override
    public void text(String piece) {
      left--;
    }

    @Override
    public boolean stopped() {
      return left <= 0;
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(strings = {"patternkv:2,window=0", "commvq:1,window=0", "mead:2"})
  void andSoTheyAreOfOtherCaches(String typed) {
    try (LoadedModel bundled = LoadedModel.bundled()) {
      checkTextsAreThoseOfEachAlone(bundled, CacheSpec.parse(typed));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"fp16", "kivi:2,window=0", "mixkvq,high=1.9,mid=1.6", "pmkvq:2,budget=512KiB"})
  void textsAreThoseThatEachSessionGivesAlone(String typed) {
    checkTextsAreThoseOfEachAlone(model, CacheSpec.parse(typed));
  }

  private static void checkTextsAreThoseOfEachAlone(LoadedModel model, CacheSpec spec) {
    String paragraph = "The old man looked at the sea, and the sea was calm. ";
    List<Talk> talks =
        List.of(
            new Talk("Once upon a time", " And then", 100, 1),
            new Talk(paragraph.repeat(20), " The boat", 3, 2),
            new Talk(paragraph.repeat(12) + "It was", " He said that", 100, 3),
            new Talk("No one", paragraph.repeat(25), 9, 4));
    List<List<String>> alone = talks.stream().map(talk -> talk.with(model, spec)).toList();
    assertThat(together(talks.stream().map(talk -> task(talk, model, spec)).toList()))
        .isEqualTo(alone);
  }

  private static Supplier<List<String>> task(Talk talk, LoadedModel model, CacheSpec spec) {
    return () -> talk.with(model, spec);
  }

  @Test
  void aSessionThatFailsFailsAlone() {
    GenerationSettings options =
        GenerationSettings.defaults().withMaxTokens(40).withSampling(SamplingOptions.greedy());
    String alone = text("The sea was calm and", options, piece -> {});
    RuntimeException made = new IllegalStateException("made up");
    GenerationListener broken =
        piece -> {
          throw made;
        };
    List<Supplier<String>> tasks =
        List.of(
            () -> text("The sea was calm and", options, piece -> {}),
            () -> thrownBy(() -> text("Once", options, broken)),
            () -> thrownBy(() -> text("Once ".repeat(3000), options, piece -> {}, 300)));
    List<String> results = together(tasks);
    assertThat(results.get(0)).isEqualTo(alone);
    assertThat(results.get(1)).isEqualTo(made.toString());
    assertThat(results.get(2)).startsWith(TooLongException.class.getName());
  }

  @Test
  void aSessionWhoseListenerFailedGoesOn() {
    GenerationSettings options = GenerationSettings.defaults().withMaxTokens(5);
    try (ModelSession session = model.newSession()) {
      assertThatThrownBy(
              () ->
                  session.generate(
                      "Once upon a time",
                      options,
                      piece -> {
                        throw new IllegalStateException("made up");
                      }))
          .hasMessage("made up");
      Generation next = session.generate(" there", options, piece -> {});
      assertThat(next.finish()).isIn(Finish.MAX_TOKENS, Finish.END_OF_TEXT);
    }
  }

  private static String text(
      String prompt, GenerationSettings options, GenerationListener listener) {
    return text(prompt, options, listener, Integer.MAX_VALUE);
  }

  private static String text(
      String prompt, GenerationSettings options, GenerationListener listener, int limit) {
    try (ModelSession session =
        model.newSession(SessionOptions.builder().contextLimit(limit).build())) {
      return session.generate(prompt, options, listener).text();
    }
  }

  private static String thrownBy(Supplier<String> task) {
    try {
      return task.get();
    } catch (RuntimeException e) {
      return e.toString();
    }
  }

  /** Runs tasks on threads that start at the same time. */
  private static <T> List<T> together(List<Supplier<T>> tasks) {
    CyclicBarrier barrier = new CyclicBarrier(tasks.size());
    List<CompletableFuture<T>> results = new ArrayList<>();
    for (Supplier<T> task : tasks) {
      CompletableFuture<T> result = new CompletableFuture<>();
      results.add(result);
      Thread.ofPlatform()
          .start(
              () -> {
                try {
                  barrier.await();
                  result.complete(task.get());
                } catch (Exception | Error e) {
                  result.completeExceptionally(e);
                }
              });
    }
    return results.stream().map(CompletableFuture::join).toList();
  }
}
