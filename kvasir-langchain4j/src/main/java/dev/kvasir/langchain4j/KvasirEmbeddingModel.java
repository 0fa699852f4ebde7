package dev.kvasir.langchain4j;

import dev.kvasir.Embedder;
import dev.kvasir.KvasirException;
import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.DimensionAwareEmbeddingModel;
import dev.langchain4j.model.output.Response;
import dev.langchain4j.model.output.TokenUsage;
import java.util.List;

/** A LangChain4j embedding model that runs in this process. Thread-safe. */
public final class KvasirEmbeddingModel extends DimensionAwareEmbeddingModel
    implements AutoCloseable {
  private final Embedder embedder;

  private KvasirEmbeddingModel(Embedder embedder) {
    this.embedder = embedder;
    this.dimension = embedder.dimensions();
  }

  /** Loads a model by name or path, which is closed with this one. */
  public static KvasirEmbeddingModel load(String model) {
    return of(Embedder.load(model));
  }

  /** Uses an embedder, which is closed with this model. */
  public static KvasirEmbeddingModel of(Embedder embedder) {
    return new KvasirEmbeddingModel(embedder);
  }

  @Override
  public String modelName() {
    return embedder.name();
  }

  @Override
  public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
    List<Embedder.Embedding> embeddings;
    try {
      embeddings = embedder.embed(segments.stream().map(TextSegment::text).toList());
    } catch (KvasirException e) {
      throw ExceptionMapper.of(e);
    }
    int tokens = embeddings.stream().mapToInt(Embedder.Embedding::tokens).sum();
    return Response.from(
        embeddings.stream().map(each -> Embedding.from(each.vector())).toList(),
        new TokenUsage(tokens));
  }

  @Override
  public void close() {
    embedder.close();
  }
}
