package dev.kvasir.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Embedder;
import dev.kvasir.Embedder.Pooling;
import dev.kvasir.KvasirException;
import dev.kvasir.Reranker;
import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.model.output.Response;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Vectors and scores are those of the embedder and the reranker. */
class KvasirEmbeddingModelTest {
  @Test
  void vectorsAreThoseOfTheEmbedder() {
    Embedder embedder = Embedder.of(Bundled.MODEL, Pooling.MEAN); // leaves the model open
    KvasirEmbeddingModel model = KvasirEmbeddingModel.of(embedder);
    Response<List<Embedding>> response =
        model.embedAll(List.of(TextSegment.from("The sea."), TextSegment.from("The shore.")));
    assertThat(response.content().get(1).vector())
        .isEqualTo(embedder.embed("The shore.").vector())
        .hasSize(model.dimension());
    assertThat(response.tokenUsage().inputTokenCount())
        .isEqualTo(embedder.embed("The sea.").tokens() + embedder.embed("The shore.").tokens());
    assertThat(model.embed("The sea.").content()).isEqualTo(response.content().get(0));
    String tooLong = "sea ".repeat(embedder.maxTokens());
    assertThatThrownBy(() -> model.embed(tooLong)).isInstanceOf(InvalidRequestException.class);
  }

  /** Scores a document by its length. */
  private record ByLength(List<Boolean> closed) implements Reranker {
    @Override
    public String name() {
      return "length";
    }

    @Override
    public int maxTokens() {
      return 10;
    }

    @Override
    public List<Float> score(String query, List<String> documents) {
      if (query.isEmpty()) {
        throw new KvasirException(KvasirException.Reason.TOO_LONG, "too long");
      }
      return documents.stream().map(text -> text.length() / 10f).toList();
    }

    @Override
    public void close() {
      closed.add(true);
    }
  }

  @Test
  void scoresAreThoseOfTheReranker() {
    List<Boolean> closed = new ArrayList<>();
    try (KvasirScoringModel model = KvasirScoringModel.of(new ByLength(closed))) {
      assertThat(model.score("calm sea", "q").content()).isEqualTo((double) 0.8f);
      assertThatThrownBy(() -> model.score("calm sea", ""))
          .isInstanceOf(InvalidRequestException.class);
    }
    assertThat(closed).hasSize(1);
  }
}
