package dev.kvasir.spring;

import dev.kvasir.Embedder;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.Embedding;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.embedding.EmbeddingOptions;
import org.springframework.ai.embedding.EmbeddingRequest;
import org.springframework.ai.embedding.EmbeddingResponse;
import org.springframework.ai.embedding.EmbeddingResponseMetadata;

/** A Spring AI embedding model that runs in this process. Thread-safe. */
public final class KvasirSpringEmbeddingModel implements EmbeddingModel, AutoCloseable {
  private final Embedder embedder;
  private final int dimensions;

  /** Uses an embedder, which is closed with this model. */
  public KvasirSpringEmbeddingModel(Embedder embedder) {
    this(embedder, embedder.dimensions());
  }

  /**
   * @param dimensions of the vectors, unless a request asks for fewer
   */
  public KvasirSpringEmbeddingModel(Embedder embedder, int dimensions) {
    this.embedder = embedder;
    this.dimensions = dimensions;
  }

  @Override
  public EmbeddingResponse call(EmbeddingRequest request) {
    int wanted =
        Optional.ofNullable(request.getOptions())
            .map(EmbeddingOptions::getDimensions)
            .orElse(dimensions);
    List<Embedder.Embedding> found = embedder.embed(request.getInstructions());
    List<Embedding> embeddings =
        IntStream.range(0, found.size())
            .mapToObj(index -> new Embedding(truncated(found.get(index), wanted), index))
            .toList();
    int tokens = found.stream().mapToInt(Embedder.Embedding::tokens).sum();
    return new EmbeddingResponse(
        embeddings, new EmbeddingResponseMetadata(embedder.name(), new DefaultUsage(tokens, 0)));
  }

  private static float[] truncated(Embedder.Embedding whole, int wanted) {
    return wanted == whole.vector().length ? whole.vector() : whole.truncated(wanted).vector();
  }

  @Override
  public float[] embed(Document document) {
    return truncated(embedder.embed(getEmbeddingContent(document)), dimensions);
  }

  @Override
  public int dimensions() {
    return dimensions;
  }

  @Override
  public void close() {
    embedder.close();
  }
}
