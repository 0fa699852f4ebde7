package dev.kvasir.model;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.format.TensorSource;
import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.Kernels;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * A decoder-only transformer, ready to run. Steps may come from several threads at once: each takes
 * scratch memory of its own and gives it back.
 */
public final class Decoder implements AutoCloseable {
  private final ModelConfig config;
  private final String fingerprint;
  private final Weights weights;
  private final Rope rope;
  private final Kernels kernels;
  private final Crew crew;
  private final ConcurrentLinkedDeque<ForwardPass> idle = new ConcurrentLinkedDeque<>();
  private volatile boolean closed;

  private Decoder(
      ModelConfig config, String fingerprint, Weights weights, Kernels kernels, Crew crew) {
    this.config = config;
    this.fingerprint = fingerprint;
    this.weights = weights;
    this.rope = config.rope().rope();
    this.kernels = kernels;
    this.crew = crew;
  }

  /**
   * Takes over an open GGUF file, which is closed with the decoder or when it is refused.
   *
   * @param progress told after each layer that is loaded
   */
  public static Decoder load(GgufFile file, Kernels kernels, Crew crew, LoadProgress progress) {
    try {
      ModelConfig config = ModelConfig.of(file);
      return load(config, file, TensorNames.GGUF, kernels, crew, progress);
    } catch (RuntimeException | Error e) {
      file.close();
      throw e;
    }
  }

  /** Reads a folder as Hugging Face lays it out. */
  public static Decoder load(Path folder, Kernels kernels, Crew crew, LoadProgress progress) {
    ModelConfig config = ModelConfig.of(folder);
    SafetensorsFolder file = SafetensorsFolder.open(folder);
    try {
      return load(config, file, TensorNames.HUGGING_FACE, kernels, crew, progress);
    } catch (RuntimeException | Error e) {
      file.close();
      throw e;
    }
  }

  private static Decoder load(
      ModelConfig config,
      TensorSource file,
      TensorNames names,
      Kernels kernels,
      Crew crew,
      LoadProgress progress) {
    // Loading closes a file that no weights are used from where it is mapped.
    String fingerprint = Fingerprint.of(config, file);
    Weights weights = WeightsLoader.load(config, file, names, progress);
    return new Decoder(config, fingerprint, weights, kernels, crew);
  }

  public ModelConfig config() {
    return config;
  }

  /** A short name for its weights and shape, which profiles are made out to. */
  public String fingerprint() {
    return fingerprint;
  }

  /** What a cache of its sequences may know, but for profile and limit. */
  public CacheHost cacheHost() {
    return CacheHost.unknown()
        .withQueryHeads(config.queryHeads())
        .withRotation(Optional.of(rope))
        .withKernels(kernels)
        .withCrew(crew);
  }

  /** For what computes with them itself; they live as long as this decoder. */
  public Weights weights() {
    checkOpen();
    return weights;
  }

  /** Bytes of all weights as they are used. */
  public long weightBytes() {
    return weights.bytes();
  }

  /** Runs one step: appends every row to its cache and leaves the wanted logits in the batch. */
  public void forward(Batch batch) {
    checkOpen();
    checkTokens(batch);
    ForwardPass pass = idle.poll();
    if (pass == null) {
      pass = new ForwardPass(config, weights, rope, kernels, crew);
    }
    pass.run(batch);
    idle.push(pass);
  }

  private void checkTokens(Batch batch) {
    if (batch.rows() == 0) {
      throw new IllegalArgumentException("the batch has no rows");
    }
    SizeLimits.check(config, batch);
    for (int row = 0; row < batch.rows(); row++) {
      int token = batch.token(row);
      if (token < 0 || token >= config.vocabulary()) {
        throw new IllegalArgumentException(
            "token is %d; expected 0 to %d".formatted(token, config.vocabulary() - 1));
      }
      if (batch.position(row) >= config.contextLength()) {
        throw new IllegalArgumentException(
            "position is %d; the context holds %d"
                .formatted(batch.position(row), config.contextLength()));
      }
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("this model is closed");
    }
  }

  @Override
  public void close() {
    closed = true;
    idle.clear();
    weights.close();
  }
}
