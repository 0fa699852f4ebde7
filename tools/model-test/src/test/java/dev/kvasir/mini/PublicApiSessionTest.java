package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.GenerateOptions;
import dev.kvasir.Generation;
import dev.kvasir.GenerationListener;
import dev.kvasir.KvCacheSpec;
import dev.kvasir.KvasirException;
import dev.kvasir.LoadOptions;
import dev.kvasir.Model;
import dev.kvasir.OutputFormat;
import dev.kvasir.SamplingOptions;
import dev.kvasir.Session;
import dev.kvasir.SessionOptions;
import dev.kvasir.TokenLogprob;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an application does with {@code dev.kvasir} alone. */
class PublicApiSessionTest {
  private static final String PROMPT = "Once upon a time";
  private static final GenerateOptions FEW =
      GenerateOptions.builder().sampling(SamplingOptions.greedy()).maxTokens(8).build();

  private static Model model;

  @TempDir Path folder;

  @BeforeAll
  static void load() {
    model = Model.bundled(LoadOptions.builder().threads(1).cacheMemory(64 << 20).build());
  }

  @AfterAll
  static void close() {
    model.close();
  }

  @Test
  void tokensAndTextAreConverted() {
    assertThat(model.decode(model.encode(PROMPT))).isEqualTo(PROMPT);
    assertThat(model.contextLength()).isPositive();
    assertThat(model.weightBytes()).isPositive();
  }

  @Test
  void aSavedSessionGoesOnAsIfItHadNotStopped() {
    SessionOptions options = SessionOptions.builder().cache(KvCacheSpec.kivi(2).window(0)).build();
    Path file = folder.resolve("saved.session");
    String expected;
    try (Session session = model.newSession(options)) {
      session.generate(PROMPT, FEW);
      session.save(file);
      expected = session.generate(" and", FEW).text();
      assertThat(session.cacheBytes()).isPositive();
    }
    try (Session restored = model.restore(file)) {
      assertThat(restored.options().cache().text()).isEqualTo("kivi:2,window=0");
      assertThat(restored.generate(" and", FEW).text()).isEqualTo(expected);
    }
    try (Session converted = model.restore(file, KvCacheSpec.fp16())) {
      assertThat(converted.options().cache()).isEqualTo(KvCacheSpec.fp16());
      assertThat(converted.generate(" and", FEW).generatedTokens()).isEqualTo(8);
    }
  }

  @Test
  void aFormatConstrainsTheText() {
    GenerateOptions choice =
        GenerateOptions.builder().format(OutputFormat.oneOf(List.of("ebb", "flood"))).build();
    try (Session session = model.newSession()) {
      assertThat(session.generate("The tide is at ", choice).text()).isIn("ebb", "flood");
      assertThat(session.generate(" or at ", choice).text()).isIn("ebb", "flood");
    }
  }

  @Test
  void aListenerGetsLogprobsAndStops() {
    List<TokenLogprob> logprobs = new ArrayList<>();
    GenerationListener listener =
        new GenerationListener() {
          @Override
          public void text(String piece) {}

          @Override
          public void logprob(TokenLogprob token) {
            logprobs.add(token);
          }

          @Override
          public boolean stopped() {
            return logprobs.size() == 3;
          }
        };
    try (Session session = model.newSession()) {
      Generation made =
          session.generate(PROMPT, GenerateOptions.builder().topLogprobs(2).build(), listener);
      assertThat(made.finish()).isEqualTo(Generation.Finish.STOPPED);
      assertThat(logprobs).hasSize(3).allSatisfy(each -> assertThat(each.top()).hasSize(2));
    }
  }

  @Test
  void aCacheIsChosenForAContextAndAMemory() {
    SessionOptions exact = SessionOptions.defaults();
    long bytes = model.maxCacheBytes(exact, 8192);
    assertThat(model.chooseCache(8192, bytes)).isEqualTo(KvCacheSpec.fp16());
    KvCacheSpec narrow = model.chooseCache(8192, bytes / 3);
    assertThat(narrow).isNotEqualTo(KvCacheSpec.fp16());
    SessionOptions options = SessionOptions.builder().cache(narrow).build();
    assertThat(model.maxCacheBytes(options, 8192)).isLessThanOrEqualTo(bytes / 3);
    assertThatThrownBy(() -> model.chooseCache(8192, 1000))
        .isInstanceOf(KvasirException.class)
        .hasMessageContaining("no cache holds 8,192 tokens");
  }

  @Test
  void whatDoesNotFitIsRefusedWithAReason() {
    SessionOptions tiny = SessionOptions.builder().contextLimit(4).build();
    try (Session session = model.newSession(tiny)) {
      assertThatThrownBy(() -> session.generate(PROMPT.repeat(5), FEW))
          .isInstanceOfSatisfying(
              KvasirException.class,
              e -> assertThat(e.reason()).isEqualTo(KvasirException.Reason.TOO_LONG));
    }
  }
}
