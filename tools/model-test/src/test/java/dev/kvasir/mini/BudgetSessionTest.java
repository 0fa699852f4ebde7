package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Generation;
import dev.kvasir.Generation.Finish;
import dev.kvasir.GenerationListener;
import dev.kvasir.SessionOptions;
import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import java.nio.file.Path;
import java.util.Arrays;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cache with a memory budget, from a user's point of view. */
class BudgetSessionTest {
  private static final GenerationListener SILENT = piece -> {};
  private static final GenerationSettings GREEDY = GenerationSettings.greedy();
  private static final SessionOptions SMALL =
      SessionOptions.builder().cache(CacheSpec.parse("pmkvq:2,budget=375KiB")).build();
  private static final long SMALL_BYTES = 375 * 1024;

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

  @Test
  void aFullBudgetEndsTheGenerationAndLosesNothing() {
    try (ModelSession session = model.newSession(SMALL)) {
      int capacity = session.cache().capacity();
      int[] prompt = prompt(capacity - 5);
      Generation made = session.generate(prompt, GREEDY.withMaxTokens(50), SILENT);
      assertThat(made.finish()).isEqualTo(Finish.CACHE_FULL);
      assertThat(made.generatedTokens()).isEqualTo(6);
      assertThat(made.text()).isNotEmpty();
      assertThat(made.quantization().requantizeNanos()).isPositive();
      assertThat(session.length()).isEqualTo(capacity + 1);
      assertThat(session.cache().bytes().total()).isLessThanOrEqualTo(SMALL_BYTES);
    }
  }

  @Test
  void aPromptThatCannotFitIsRefusedWithTheTokensThatDo() {
    try (ModelSession session = model.newSession(SMALL)) {
      int capacity = session.cache().capacity();
      assertThatThrownBy(() -> session.generate(prompt(capacity + 1), GREEDY, SILENT))
          .isInstanceOf(InvalidInputException.class)
          .hasMessage(
              "the prompt has %d tokens; the cache's budget has room for %d",
              capacity + 1, capacity);
      assertThat(session.length()).isZero();
    }
  }

  @Test
  void aContextThatCannotFitIsRefusedAtOnce() {
    assertThatThrownBy(() -> model.newSession(SMALL.toBuilder().contextLimit(5000).build()))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageMatching(
            "the cache 'pmkvq:2,budget=375KiB' holds \\d+ tokens at the most; the context was to"
                + " have 5000");
  }

  /** Quantization is deferred as in the papers, but only as long as the budget allows. */
  @Test
  void anExactPrefillKeepsToTheBudget() {
    try (ModelSession session =
        model.newSession(SMALL.toBuilder().prefill(Prefill.EXACT).build())) {
      int[] prompt = prompt(session.cache().capacity() - 5);
      GenerationListener watching =
          new GenerationListener() {
            @Override
            public void text(String piece) {}

            @Override
            public void promptProgress(int done, int total) {
              assertThat(session.cache().bytes().total()).isLessThanOrEqualTo(SMALL_BYTES);
            }
          };
      Generation made = session.generate(prompt, GREEDY.withMaxTokens(2), watching);
      assertThat(made.finish()).isEqualTo(Finish.MAX_TOKENS);
    }
  }

  private static int[] prompt(int tokens) {
    int[] ids = new int[tokens];
    Arrays.setAll(ids, i -> 100 + i * 37 % 5000);
    return ids;
  }
}
