package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.GenerateOptions;
import dev.kvasir.Generation;
import dev.kvasir.GenerationListener;
import dev.kvasir.Model;
import dev.kvasir.Prefill;
import dev.kvasir.Session;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.engine.Finish;
import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A cache with a memory budget, from a user's point of view. */
class BudgetSessionTest {
  private static final GenerationListener SILENT = piece -> {};
  private static final GenerateOptions GREEDY = GenerateOptions.greedy();
  private static final SessionOptions SMALL =
      SessionOptions.defaults().withCache(CacheSpec.parse("pmkvq:2,budget=1500KiB"));
  private static final long SMALL_BYTES = 1500 * 1024;

  private static Model model;

  @BeforeAll
  static void load() {
    model = Model.bundled();
  }

  @AfterAll
  static void close() {
    model.close();
  }

  @Test
  void aFullBudgetEndsTheGenerationAndLosesNothing() {
    try (Session session = model.newSession(SMALL)) {
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
    try (Session session = model.newSession(SMALL)) {
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
    assertThatThrownBy(() -> model.newSession(SMALL.withContextLimit(5000)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageMatching(
            "the cache 'pmkvq:2,budget=1500KiB' holds \\d+ tokens at the most; the context was to"
                + " have 5000");
  }

  /** Quantization is deferred as in the papers, but only as long as the budget allows. */
  @Test
  void anExactPrefillKeepsToTheBudget() {
    try (Session session = model.newSession(SMALL.withPrefill(Prefill.EXACT))) {
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
