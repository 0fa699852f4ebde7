package dev.kvasir.model;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWindows;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.Rotation;
import java.nio.file.Path;

/**
 * The sizes of a decoder and the choices that its architecture makes.
 *
 * @param keyDim channels of a query or key head
 * @param valueDim channels of a value head, and of a head's output
 */
public record ModelConfig(
    String name,
    Architecture architecture,
    int layers,
    int hidden,
    int feedForward,
    int queryHeads,
    int kvHeads,
    int keyDim,
    int valueDim,
    int vocabulary,
    int contextLength,
    float normEpsilon,
    RopeSettings rope,
    WindowPattern windows,
    OutputWeights output) {

  /** Where the weights of the output layer come from. */
  public enum OutputWeights {
    /** A tensor of their own. */
    OWN,
    /** The embedding, whatever else the file holds. */
    EMBEDDING,
    /** A tensor of their own where there is one, else the embedding: GGUF files do not say. */
    OWN_OR_EMBEDDING
  }

  /**
   * @param dimensions channels of a head that turn
   */
  public record RopeSettings(
      RopeLayout layout, double base, int dimensions, RopeFrequencies frequencies) {
    Rope rope() {
      return new Rope(layout, frequencies.of(base, dimensions));
    }
  }

  /** Reads it from a GGUF file; no weights are touched. */
  public static ModelConfig of(GgufFile file) {
    return GgufConfig.read(file);
  }

  /** Reads it from a folder as Hugging Face lays it out; no weights are touched. */
  public static ModelConfig of(Path folder) {
    return HuggingFaceConfig.read(folder);
  }

  /** Refuses sizes that no decoder can have, naming the file they came from. */
  ModelConfig checked(String fileName) {
    atLeastOne(fileName, "layers", layers);
    atLeastOne(fileName, "hidden size", hidden);
    atLeastOne(fileName, "feed-forward size", feedForward);
    atLeastOne(fileName, "query heads", queryHeads);
    atLeastOne(fileName, "KV heads", kvHeads);
    atLeastOne(fileName, "head size", keyDim);
    atLeastOne(fileName, "value head size", valueDim);
    atLeastOne(fileName, "vocabulary", vocabulary);
    atLeastOne(fileName, "context length", contextLength);
    if (queryHeads % kvHeads != 0) {
      throw new InvalidInputException(
          "%s: has %d query heads; expected a multiple of its %d KV heads"
              .formatted(fileName, queryHeads, kvHeads));
    }
    int widest = Math.max(keyDim, valueDim);
    if ((long) queryHeads * widest > Integer.MAX_VALUE) {
      throw new InvalidInputException(
          "%s: has %d query heads of %d channels; expected at most %d in all"
              .formatted(fileName, queryHeads, widest, Integer.MAX_VALUE));
    }
    SizeLimits.check(fileName, this);
    int turned = rope.dimensions();
    if (turned < 2 || turned > keyDim || turned % 2 != 0) {
      throw new InvalidInputException(
          "%s: rotates %d channels of a head; expected an even number up to %d"
              .formatted(fileName, turned, keyDim));
    }
    if (!(normEpsilon > 0)) {
      throw new InvalidInputException(
          "%s: the norm's epsilon is %s; expected more than 0".formatted(fileName, normEpsilon));
    }
    if (!(rope.base() > 0) || Double.isInfinite(rope.base())) {
      throw new InvalidInputException(
          "%s: the rope base is %s; expected more than 0".formatted(fileName, rope.base()));
    }
    for (double number : rope.frequencies().positives()) {
      if (!(number > 0) || Double.isInfinite(number)) {
        throw new InvalidInputException(
            "%s: the rope scaling has a factor of %s; expected more than 0"
                .formatted(fileName, number));
      }
    }
    return this;
  }

  private static void atLeastOne(String fileName, String what, int value) {
    if (value < 1) {
      throw new InvalidInputException(
          "%s: %s is %d; expected at least 1".formatted(fileName, what, value));
    }
  }

  /** Channels of a key as of a value, for what is made for heads of one width. */
  public int headDim() {
    return CacheShape.oneWidth(keyDim, valueDim);
  }

  public CacheShape cacheShape() {
    return new CacheShape(layers, kvHeads, keyDim, valueDim)
        .within(LayerWindows.of(layers, windows::of, contextLength));
  }

  /** How this model turns keys and queries to their positions. */
  public Rotation rotation() {
    return rope.rope();
  }

  public AttentionShape attentionShape() {
    return new AttentionShape(queryHeads, kvHeads, keyDim, valueDim);
  }
}
