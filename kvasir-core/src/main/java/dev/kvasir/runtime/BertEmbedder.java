package dev.kvasir.runtime;

import dev.kvasir.encoder.EncoderText;
import java.util.ArrayList;
import java.util.List;

/** Embeddings of an encoder. */
final class BertEmbedder implements LocalEmbedder {
  private final EncoderModel model;
  private final Pooling pooling;

  BertEmbedder(EncoderModel model, Pooling pooling) {
    this.model = model;
    this.pooling = pooling;
  }

  @Override
  public String name() {
    return model.name();
  }

  @Override
  public int dimensions() {
    return model.encoder().hidden();
  }

  @Override
  public int maxTokens() {
    return model.maxTokens();
  }

  @Override
  public int vocabulary() {
    return model.encoder().vocabulary();
  }

  @Override
  public Pooling pooling() {
    return pooling;
  }

  @Override
  public int[] encode(String text) {
    return model.checked(model.tokenizer().encode(text));
  }

  @Override
  public List<Embedding> embedAll(List<int[]> texts, int atOnce, Runnable check) {
    List<Embedding> embeddings = new ArrayList<>();
    model.encode(
        texts.stream().map(model::checked).map(EncoderText::of).toList(),
        check,
        encoded -> embeddings.add(pooled(encoded)));
    return embeddings;
  }

  private Embedding pooled(EncoderModel.Encoded encoded) {
    Pooler pooler = new Pooler(pooling, dimensions());
    for (int token = 0; token < encoded.tokens(); token++) {
      if (pooler.needs(token, encoded.tokens())) {
        pooler.add(encoded.vectors(), encoded.at() + token * dimensions());
      }
    }
    return pooler.embedding(encoded.tokens());
  }

  /** The encoder runs one group of texts at a time. */
  @Override
  public int concurrency() {
    return 1;
  }

  @Override
  public long maxBytes(int tokens) {
    return 0;
  }

  @Override
  public void close() {
    model.close();
  }
}
