package dev.kvasir.encoder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.Embedder;
import dev.kvasir.Embedder.Embedding;
import dev.kvasir.Embedder.Pooling;
import dev.kvasir.KvasirException;
import dev.kvasir.LoadOptions;
import dev.kvasir.Reranker;
import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Embeddings of an encoder are those of its definition in double precision. */
class BertEncoderTest {
  private static final String TEXT = "The sea is calmer";
  private static final int[] TOKENS = {2, 4, 5, 6, 7, 8, 3};

  @TempDir Path folder;
  private final TinyBert model = new TinyBert();

  @BeforeEach
  void write() throws IOException {
    model.write(folder);
  }

  private Embedder load() {
    return Embedder.load(folder, LoadOptions.builder().threads(2).build());
  }

  @ParameterizedTest
  @EnumSource(Pooling.class)
  void vectorsAreThoseOfTheDefinition(Pooling pooling) {
    double[] expected = pooled(model.encode(TOKENS), pooling);
    try (Embedder embedder =
        Embedder.load(folder.toString(), LoadOptions.builder().threads(2).build(), pooling)) {
      Embedding embedding = embedder.embed(TEXT);
      assertThat(embedding.tokens()).isEqualTo(TOKENS.length);
      assertThat(embedding.vector()).hasSize(TinyBert.HIDDEN);
      for (int i = 0; i < expected.length; i++) {
        assertThat((double) embedding.vector()[i]).isCloseTo(expected[i], within(1e-5));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(TinyBert.Kind.class)
  void otherFamiliesAreThoseOfTheirDefinitions(TinyBert.Kind kind, @TempDir Path other)
      throws IOException {
    TinyBert tiny = new TinyBert(kind, false);
    double[] expected = pooled(tiny.encode(TOKENS), Pooling.MEAN);
    try (Embedder embedder =
        Embedder.load(tiny.write(other), LoadOptions.builder().threads(2).build())) {
      Embedding embedding = embedder.embed(TOKENS);
      for (int i = 0; i < expected.length; i++) {
        assertThat((double) embedding.vector()[i]).isCloseTo(expected[i], within(1e-5));
      }
      assertThat(embedder.maxTokens()).isEqualTo(TinyBert.POSITIONS);
      assertThat(embedder.embed(TEXT).vector()).isEqualTo(embedding.vector());
    }
  }

  @ParameterizedTest
  @EnumSource(TinyBert.Kind.class)
  void aHeadScoresPairs(TinyBert.Kind kind, @TempDir Path other) throws IOException {
    TinyBert tiny = new TinyBert(kind, true);
    int[] tokens = {2, 4, 5, 3, 6, 7, 8, 3};
    int[] types = {0, 0, 0, 0, 1, 1, 1, 1};
    double expected = 1 / (1 + Math.exp(-tiny.logit(tokens, types)));
    try (Reranker reranker =
        Reranker.load(tiny.write(other), LoadOptions.builder().threads(2).build())) {
      List<Float> scores = reranker.score("the sea", List.of("is calmer", "the sea"));
      assertThat((double) scores.get(0)).isCloseTo(expected, within(1e-5));
      List<Reranker.Ranked> ranked =
          reranker.rank("the sea", List.of("is calmer", "the sea", "calm"));
      assertThat(ranked).extracting(Reranker.Ranked::index).containsExactlyInAnyOrder(0, 1, 2);
      assertThat(ranked.get(0).score()).isGreaterThanOrEqualTo(ranked.get(1).score());
    }
  }

  @Test
  void aNomicFileGivesTheVectorsOfItsFolder(@TempDir Path other) throws IOException {
    TinyBert tiny = new TinyBert(TinyBert.Kind.NOMIC_BERT, false);
    Path file = tiny.writeGguf(folder.resolve("nomic.gguf"));
    try (Embedder fromFile = Embedder.load(file.toString());
        Embedder fromFolder = Embedder.load(tiny.write(other).toString())) {
      assertThat(fromFile.embed(TEXT).vector()).isEqualTo(fromFolder.embed(TEXT).vector());
    }
  }

  @Test
  void anEncoderWithoutAHeadIsNoReranker() {
    assertThatThrownBy(() -> Reranker.load(folder.toString()))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("is an encoder without a classification head");
  }

  @Test
  void aVectorMayBeTruncated() {
    Embedding whole = new Embedding(new float[] {0.6f, 0, 0.8f}, 4);
    assertThat(whole.truncated(2)).extracting(Embedding::vector).isEqualTo(new float[] {1, 0});
    assertThatThrownBy(() -> whole.truncated(4)).hasMessage("dimensions is 4; expected 1 to 3");
  }

  private static double[] pooled(double[][] vectors, Pooling pooling) {
    double[] sum = new double[TinyBert.HIDDEN];
    for (int row = 0; row < vectors.length; row++) {
      boolean counts =
          pooling == Pooling.MEAN || row == (pooling == Pooling.FIRST ? 0 : vectors.length - 1);
      for (int i = 0; counts && i < sum.length; i++) {
        sum[i] += vectors[row][i];
      }
    }
    double squares = 0;
    for (double value : sum) {
      squares += value * value;
    }
    for (int i = 0; i < sum.length; i++) {
      sum[i] /= Math.sqrt(squares);
    }
    return sum;
  }

  @Test
  void theFilesStatePoolingAndLength() throws IOException {
    Files.createDirectory(folder.resolve("1_Pooling"));
    Files.writeString(
        folder.resolve("1_Pooling/config.json"), "{\"pooling_mode_cls_token\": true}");
    Files.writeString(folder.resolve("sentence_bert_config.json"), "{\"max_seq_length\": 8}");
    try (Embedder embedder = load()) {
      assertThat(embedder.pooling()).isEqualTo(Pooling.FIRST);
      assertThat(embedder.maxTokens()).isEqualTo(8);
      assertThat(embedder.dimensions()).isEqualTo(TinyBert.HIDDEN);
      assertThatThrownBy(() -> embedder.embed("the sea the sea the sea the"))
          .isInstanceOfSatisfying(
              KvasirException.class,
              e -> assertThat(e.reason()).isEqualTo(KvasirException.Reason.TOO_LONG))
          .hasMessage("the text has 9 tokens; the model embeds at most 8");
    }
  }

  @Test
  void aGgufFileGivesTheSameVectors() {
    Path file = model.writeGguf(folder.resolve("model.gguf"));
    try (Embedder fromFile = Embedder.load(file.toString());
        Embedder fromFolder = load()) {
      assertThat(fromFile.embed(TEXT).vector()).isEqualTo(fromFolder.embed(TEXT).vector());
      assertThat(fromFile.maxTokens()).isEqualTo(TinyBert.POSITIONS);
      assertThat(fromFile.pooling()).isEqualTo(Pooling.MEAN);
    }
  }

  @Test
  void aTextDoesNotDependOnOthers() {
    try (Embedder embedder = load()) {
      float[] alone = embedder.embed(TEXT).vector();
      List<Embedding> both = embedder.embed(List.of("the calm", TEXT));
      assertThat(both.get(1).vector()).isEqualTo(alone);
      assertThat(both.get(0).vector()).isNotEqualTo(alone);
    }
  }

  @Test
  void otherEncodersAreRefused() throws IOException {
    Files.writeString(
        folder.resolve("config.json"), TinyBert.config("bert").replace("\"gelu\"", "\"relu\""));
    assertThatThrownBy(this::load)
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("hidden_act is 'relu'; an encoder needs 'gelu'");
    Files.writeString(
        folder.resolve("config.json"),
        TinyBert.config("bert").replace("\"hidden_size\": 12", "\"hidden_size\": 24"));
    assertThatThrownBy(this::load)
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("expected");
  }

  @Test
  void theErrorFunctionIsExactEnough() {
    for (double x = -5; x <= 5; x += 0.01) {
      double expected = 2 * TinyBert.normalDistribution(x * Math.sqrt(2)) - 1;
      assertThat(Gelu.erf(x)).isCloseTo(expected, within(2e-7));
    }
  }
}
