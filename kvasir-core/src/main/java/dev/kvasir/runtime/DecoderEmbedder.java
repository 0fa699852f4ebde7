package dev.kvasir.runtime;

import dev.kvasir.Embedder;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.engine.Request;
import dev.kvasir.error.InvalidInputException;

/** Embeddings of a decoder: its hidden states after the last norm. */
final class DecoderEmbedder implements Embedder {
  private final LoadedModel model;
  private final Pooling pooling;
  private final Runnable onClose;

  /**
   * @throws InvalidInputException if the model's device keeps hidden states to itself
   */
  DecoderEmbedder(LoadedModel model, Pooling pooling, Runnable onClose) {
    if (!model.givesHiddenStates()) {
      throw new InvalidInputException(
          "%s: runs on %s; embeddings need the device cpu".formatted(model.name(), model.device()));
    }
    this.model = model;
    this.pooling = pooling;
    this.onClose = onClose;
  }

  @Override
  public String name() {
    return model.name();
  }

  @Override
  public int dimensions() {
    return model.config().hidden();
  }

  @Override
  public int maxTokens() {
    return model.contextLength();
  }

  @Override
  public Pooling pooling() {
    return pooling;
  }

  @Override
  public Embedding embed(String text) {
    int[] tokens =
        EmbeddedText.checked(
            model.tokenizer().encode(text), maxTokens(), model.config().vocabulary());
    Pooler pooler = new Pooler(pooling, dimensions());
    Batch batch = new Batch();
    try (KvCache cache = model.newCache(CacheSpec.DEFAULT, tokens.length)) {
      for (int from = 0; from < tokens.length; from += Request.PREFILL_STEP) {
        int to = Math.min(tokens.length, from + Request.PREFILL_STEP);
        batch.clear();
        batch.requestHiddenStates();
        for (int token = from; token < to; token++) {
          batch.add(cache, tokens[token], pooler.needs(token, tokens.length));
        }
        model.forward(batch);
        for (int row = 0; row < batch.logitRows(); row++) {
          pooler.add(batch.hiddenStates(), row * dimensions());
        }
      }
    }
    return pooler.embedding(tokens.length);
  }

  @Override
  public void close() {
    onClose.run();
  }
}
