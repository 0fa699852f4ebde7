package dev.kvasir.runtime;

import dev.kvasir.Embedder;
import dev.kvasir.encoder.BertEncoder;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.JsonFile;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.text.WordPieces;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;
import java.util.function.Supplier;

/** Embeddings of an encoder. */
final class BertEmbedder implements Embedder {
  private final String name;
  private final BertEncoder encoder;
  private final WordPieces tokenizer;
  private final WorkerPool workers;
  private final Pooling pooling;
  private final int maxTokens;

  private BertEmbedder(
      String name,
      BertEncoder encoder,
      WordPieces tokenizer,
      WorkerPool workers,
      Pooling pooling,
      int trainedTokens) {
    this.name = name;
    this.encoder = encoder;
    this.tokenizer = tokenizer;
    this.workers = workers;
    this.pooling = pooling;
    this.maxTokens = Math.min(encoder.positions(), trainedTokens);
  }

  static BertEmbedder load(Path folder, EngineOptions options, Pooling pooling) {
    return load(
        folder.toString(),
        options,
        pooling,
        workers -> BertEncoder.load(folder, options.kernels(), workers),
        () -> WordPieces.ofFolder(folder),
        trainedTokens(folder));
  }

  static BertEmbedder load(GgufFile file, EngineOptions options, Pooling pooling) {
    return load(
        file.name(),
        options,
        pooling,
        workers -> BertEncoder.load(file, options.kernels(), workers),
        () -> WordPieces.ofGguf(file.name(), file.metadata()),
        Integer.MAX_VALUE);
  }

  private static BertEmbedder load(
      String name,
      EngineOptions options,
      Pooling pooling,
      Function<WorkerPool, BertEncoder> encoders,
      Supplier<WordPieces> tokenizers,
      int trainedTokens) {
    WorkerPool workers = new WorkerPool(options.threads());
    BertEncoder encoder = null;
    try {
      encoder = encoders.apply(workers);
      return new BertEmbedder(name, encoder, tokenizers.get(), workers, pooling, trainedTokens);
    } catch (RuntimeException | Error e) {
      if (encoder != null) {
        encoder.close();
      }
      workers.close();
      throw e;
    }
  }

  /** Returns the length that sentence-transformers uses, where its file states one. */
  private static int trainedTokens(Path folder) {
    Path file = folder.resolve("sentence_bert_config.json");
    return Files.isRegularFile(file)
        ? JsonFile.read(file).integer("max_seq_length").orElse(Integer.MAX_VALUE)
        : Integer.MAX_VALUE;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public int dimensions() {
    return encoder.hidden();
  }

  @Override
  public int maxTokens() {
    return maxTokens;
  }

  @Override
  public Pooling pooling() {
    return pooling;
  }

  @Override
  public Embedding embed(String text) {
    int[] tokens = EmbeddedText.checked(tokenizer.encode(text), maxTokens, encoder.vocabulary());
    float[] vectors = encoder.encode(tokens);
    Pooler pooler = new Pooler(pooling, dimensions());
    for (int token = 0; token < tokens.length; token++) {
      if (pooler.needs(token, tokens.length)) {
        pooler.add(vectors, token * dimensions());
      }
    }
    return pooler.embedding(tokens.length);
  }

  @Override
  public void close() {
    encoder.close();
    tokenizer.close();
    workers.close();
  }
}
