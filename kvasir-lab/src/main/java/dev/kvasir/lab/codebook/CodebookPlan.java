package dev.kvasir.lab.codebook;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.CommvqProfile;
import dev.kvasir.codec.commvq.CommvqShape;
import dev.kvasir.lab.codebook.VectorSample.Side;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * Which codebooks a model gets, and how they are trained.
 *
 * @param valueHeads KV heads whose values share codes
 * @param rows rows of a set, N' in the paper
 * @param pairs channel pairs of a key that share a code, g in the paper; a divisor of a head's
 * @param keys settings for the keys of a head, or of each group of its pairs
 * @param values settings for the values of a group of heads
 */
public record CodebookPlan(
    int valueHeads, int rows, int pairs, TrainingSettings keys, TrainingSettings values)
    implements Serializable {
  /** Returns the plan for a bit width. */
  public static CodebookPlan of(CacheShape shape, int bits, int valueHeads, int rows, int pairs) {
    return new CodebookPlan(
        valueHeads,
        rows,
        pairs,
        TrainingSettings.of(CommvqProfile.stages(bits, 2 * pairs, rows)),
        TrainingSettings.of(valueHeads * CommvqProfile.stages(bits, shape.headDim(), rows)));
  }

  /** Returns the default plan for a bit width. */
  public static CodebookPlan of(CacheShape shape, int bits) {
    return of(shape, bits, defaultHeads(shape), AdditiveStages.ROWS, shape.headDim() / 2);
  }

  /** Returns the default plan with settings for one head, keys and values alike. */
  public static CodebookPlan of(CacheShape shape, TrainingSettings ofHead) {
    int heads = defaultHeads(shape);
    return new CodebookPlan(
        heads,
        AdditiveStages.ROWS,
        shape.headDim() / 2,
        ofHead,
        ofHead.withStages(heads * ofHead.stages()));
  }

  private static int defaultHeads(CacheShape shape) {
    return CommvqShape.defaultValueHeads(shape.kvHeads(), shape.headDim());
  }

  /**
   * Returns all codebooks by layer, because a cancelled training is most useful with whole ones.
   */
  List<HeadId> books(CacheShape shape) {
    List<HeadId> books = new ArrayList<>();
    for (int layer = 0; layer < shape.layers(); layer++) {
      for (Side side : Side.values()) {
        for (int index = 0; index < booksOfLayer(shape, side); index++) {
          books.add(new HeadId(side, layer, index));
        }
      }
    }
    return books;
  }

  public int booksOfLayer(CacheShape shape, Side side) {
    return side == Side.KEYS ? shape.kvHeads() : shape.kvHeads() / valueHeads;
  }

  public TrainingSettings settings(Side side) {
    return side == Side.KEYS ? keys : values;
  }

  /** Returns the channels that the stages of a training cover. */
  public int trainedChannels(CacheShape shape, Side side) {
    return side == Side.KEYS ? 2 * pairs : valueHeads * shape.headDim();
  }

  /** Returns the channels of a codebook. */
  public int channels(CacheShape shape, Side side) {
    return side == Side.KEYS ? shape.headDim() : valueHeads * shape.headDim();
  }

  /** Returns the stages of a codebook. */
  public int stages(CacheShape shape, Side side) {
    return settings(side).stages() * channels(shape, side) / trainedChannels(shape, side);
  }
}
