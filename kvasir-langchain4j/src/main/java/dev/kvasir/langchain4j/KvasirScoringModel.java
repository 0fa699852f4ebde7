package dev.kvasir.langchain4j;

import dev.kvasir.KvasirException;
import dev.kvasir.Reranker;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.output.Response;
import dev.langchain4j.model.scoring.ScoringModel;
import java.util.List;

/** A LangChain4j scoring model (reranker) that runs in this process. Thread-safe. */
public final class KvasirScoringModel implements ScoringModel, AutoCloseable {
  private final Reranker reranker;

  private KvasirScoringModel(Reranker reranker) {
    this.reranker = reranker;
  }

  /** Loads a model by name or path, which is closed with this one. */
  public static KvasirScoringModel load(String model) {
    return of(Reranker.load(model));
  }

  /** Uses a reranker, which is closed with this model. */
  public static KvasirScoringModel of(Reranker reranker) {
    return new KvasirScoringModel(reranker);
  }

  @Override
  public Response<List<Double>> scoreAll(List<TextSegment> segments, String query) {
    try {
      List<Float> scores = reranker.score(query, segments.stream().map(TextSegment::text).toList());
      return Response.from(scores.stream().map(Float::doubleValue).toList());
    } catch (KvasirException e) {
      throw ExceptionMapper.of(e);
    }
  }

  @Override
  public void close() {
    reranker.close();
  }
}
