package dev.kvasir.model;

import dev.kvasir.format.TensorSource;
import dev.kvasir.kernel.Matrix;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.DamagedFileException;
import dev.kvasir.memory.ProtectedMappings;
import java.util.List;
import java.util.Optional;

/**
 * All weights of a decoder and the memory that owns them.
 *
 * @param tokenInputs embeddings of tokens that layers add, if they do
 * @param output the embedding itself if the two are tied
 * @param file open while dense weights are read from its mapping, else null
 */
public record Weights(
    Matrix embedding, // (vocabulary, hidden)
    List<LayerWeights> layers,
    Optional<TokenInputWeights> tokenInputs,
    float[] outputNorm, // (hidden)
    Matrix output, // (vocabulary, hidden)
    CountedArena arena,
    TensorSource file)
    implements AutoCloseable {
  /** Weights of a decoder whose layers add no embeddings of tokens. */
  public Weights(
      Matrix embedding,
      List<LayerWeights> layers,
      float[] outputNorm,
      Matrix output,
      CountedArena arena,
      TensorSource file) {
    this(embedding, layers, Optional.empty(), outputNorm, output, arena, file);
  }

  /** Returns the bytes of all loaded weights, each counted once. */
  public long bytes() {
    long tied = output == embedding ? 0 : output.bytes();
    return embedding.bytes()
        + tied
        + (long) outputNorm.length * Float.BYTES
        + tokenInputs.map(TokenInputWeights::bytes).orElse(0L)
        + layers.stream().mapToLong(LayerWeights::bytes).sum();
  }

  /** Returns whether all bytes that were read from the file were its own. */
  public boolean areIntact() {
    return ProtectedMappings.faults() == 0 || file == null || file.isIntact();
  }

  /**
   * @throws DamagedFileException if the file was truncated, or its disk failed
   */
  void requireIntact() {
    if (!areIntact()) {
      throw new DamagedFileException(
          "%s: cannot be read any more; it was truncated or its disk failed"
              .formatted(file.name()));
    }
  }

  @Override
  public void close() {
    arena.close();
    if (file != null) {
      file.close();
    }
  }
}
