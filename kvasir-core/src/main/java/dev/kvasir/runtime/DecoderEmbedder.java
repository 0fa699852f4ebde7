package dev.kvasir.runtime;

import dev.kvasir.engine.StateReceiver;
import java.util.List;

/** Embeddings of a decoder: its hidden states after the last norm. */
final class DecoderEmbedder implements LocalEmbedder {
  private final TextReader reader;
  private final Pooling pooling;
  private final Runnable onClose;

  DecoderEmbedder(LoadedModel model, Pooling pooling, Runnable onClose) {
    this.reader = new TextReader(model, "embeddings");
    this.pooling = pooling;
    this.onClose = onClose;
  }

  @Override
  public String name() {
    return reader.model().name();
  }

  @Override
  public int dimensions() {
    return reader.model().config().hidden();
  }

  @Override
  public int maxTokens() {
    return reader.model().contextLength();
  }

  @Override
  public int vocabulary() {
    return reader.model().config().vocabulary();
  }

  @Override
  public Pooling pooling() {
    return pooling;
  }

  @Override
  public int[] encode(String text) {
    return EmbeddedText.checked(reader.model().tokenizer().encode(text), maxTokens(), vocabulary());
  }

  @Override
  public List<Embedding> embedAll(List<int[]> texts, int atOnce, Runnable check) {
    return reader.readAll(texts, atOnce, tokens -> embed(tokens, check));
  }

  private Embedding embed(int[] text, Runnable check) {
    int[] tokens = EmbeddedText.checked(text, maxTokens(), vocabulary());
    Pooler pooler = new Pooler(pooling, dimensions());
    reader.read(
        tokens,
        new StateReceiver() {
          @Override
          public boolean wants(int position) {
            return pooler.needs(position, tokens.length);
          }

          @Override
          public void accept(float[] states, int at) {
            pooler.add(states, at);
          }
        },
        check);
    return pooler.embedding(tokens.length);
  }

  @Override
  public int concurrency() {
    return TextReader.CONCURRENCY;
  }

  @Override
  public long maxBytes(int tokens) {
    return reader.maxBytes(tokens);
  }

  @Override
  public void close() {
    onClose.run();
  }
}
