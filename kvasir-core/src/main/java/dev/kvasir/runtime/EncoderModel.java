package dev.kvasir.runtime;

import dev.kvasir.encoder.BertEncoder;
import dev.kvasir.encoder.EncoderText;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.JsonFile;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.text.WordPieces;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** An encoder with its tokenizer and its threads. */
final class EncoderModel implements AutoCloseable {
  /** Rows that are encoded together: more do not make it faster, and take memory. */
  private static final int GROUP_ROWS = 512;

  static final String CONFIG = "config.json";

  private final String name;
  private final BertEncoder encoder;
  private final WordPieces tokenizer;
  private final WorkerPool workers;
  private final int maxTokens;

  private EncoderModel(
      String name,
      BertEncoder encoder,
      WordPieces tokenizer,
      WorkerPool workers,
      int trainedTokens) {
    this.name = name;
    this.encoder = encoder;
    this.tokenizer = tokenizer;
    this.workers = workers;
    this.maxTokens = Math.min(encoder.positions(), trainedTokens);
  }

  /** Returns whether a file or folder is that of an encoder. */
  static boolean isAt(Path path) {
    Path config = path.resolve(CONFIG);
    if (Files.isRegularFile(config)) {
      return BertEncoder.isEncoder(JsonFile.read(config));
    }
    if (!Files.isRegularFile(path)) {
      return false; // the loader of decoders reports it
    }
    try (GgufFile file = GgufFile.open(path)) {
      return BertEncoder.isEncoder(file);
    }
  }

  static EncoderModel load(Path path, EngineOptions options) {
    if (Files.isDirectory(path)) {
      return load(
          path.toString(),
          options,
          workers -> BertEncoder.load(path, options.kernels(), workers),
          () -> WordPieces.ofFolder(path),
          trainedTokens(path));
    }
    try (GgufFile file = GgufFile.open(path)) {
      return load(
          file.name(),
          options,
          workers -> BertEncoder.load(file, options.kernels(), workers),
          () -> WordPieces.ofGguf(file.name(), file.metadata()),
          Integer.MAX_VALUE);
    }
  }

  private static EncoderModel load(
      String name,
      EngineOptions options,
      Function<WorkerPool, BertEncoder> encoders,
      Supplier<WordPieces> tokenizers,
      int trainedTokens) {
    WorkerPool workers = new WorkerPool(options.threads());
    Optional<BertEncoder> encoder = Optional.empty();
    try {
      encoder = Optional.of(encoders.apply(workers));
      return new EncoderModel(name, encoder.get(), tokenizers.get(), workers, trainedTokens);
    } catch (RuntimeException | Error e) {
      encoder.ifPresent(BertEncoder::close);
      workers.close();
      throw e;
    }
  }

  /** Returns the length that sentence-transformers uses, where its file states one. */
  static int trainedTokens(Path folder) {
    Path file = folder.resolve("sentence_bert_config.json");
    return Files.isRegularFile(file)
        ? JsonFile.read(file).integer("max_seq_length").orElse(Integer.MAX_VALUE)
        : Integer.MAX_VALUE;
  }

  String name() {
    return name;
  }

  BertEncoder encoder() {
    return encoder;
  }

  WordPieces tokenizer() {
    return tokenizer;
  }

  int maxTokens() {
    return maxTokens;
  }

  int[] checked(int[] tokens) {
    return EmbeddedText.checked(tokens, maxTokens, encoder.vocabulary());
  }

  /** Vectors of a text's tokens, from {@code at} on. */
  record Encoded(float[] vectors, int at, int tokens) {}

  /**
   * Encodes texts in groups, and passes each on in its order.
   *
   * @param check called before each group; what it throws ends the work
   */
  void encode(List<EncoderText> texts, Runnable check, Consumer<Encoded> receiver) {
    int next = 0;
    while (next < texts.size()) {
      check.run();
      List<EncoderText> group = group(texts, next);
      float[] vectors = encoder.encode(group);
      int at = 0;
      for (EncoderText text : group) {
        receiver.accept(new Encoded(vectors, at, text.tokens().length));
        at += text.tokens().length * encoder.hidden();
      }
      next += group.size();
    }
  }

  private static List<EncoderText> group(List<EncoderText> texts, int from) {
    List<EncoderText> group = new ArrayList<>();
    int rows = 0;
    for (int i = from; i < texts.size(); i++) {
      rows += texts.get(i).tokens().length;
      if (!group.isEmpty() && rows > GROUP_ROWS) {
        break;
      }
      group.add(texts.get(i));
    }
    return group;
  }

  @Override
  public void close() {
    encoder.close();
    tokenizer.close();
    workers.close();
  }
}
