package dev.kvasir.cuda.formats.commvq;

import dev.kvasir.codec.LayerRotations;
import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.CommvqProfile;
import dev.kvasir.codec.commvq.KeyCodebook;
import dev.kvasir.codec.commvq.LayerCodebooks;
import dev.kvasir.codec.commvq.ModelCodebooks;
import dev.kvasir.codec.commvq.ValueCodebook;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeLayout;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Random codebooks whose rows get smaller from stage to stage, like trained ones. */
final class TestCodebooks {
  private static final int ROWS = AdditiveStages.ROWS;

  private final SplittableRandom random = new SplittableRandom(71);
  private final int kvHeads;
  private final int headDim;
  private final int valueHeads;

  private TestCodebooks(int kvHeads, int headDim, int valueHeads) {
    this.kvHeads = kvHeads;
    this.headDim = headDim;
    this.valueHeads = valueHeads;
  }

  /**
   * @param valueHeads KV heads whose values share codes
   */
  static ModelCodebooks of(
      int layers, int kvHeads, int headDim, int valueHeads, int bits, RopeLayout layout) {
    List<LayerCodebooks> all = layers(layers, kvHeads, headDim, valueHeads, bits);
    return ModelCodebooks.of(all, LayerRotations.ofAll(rotation(headDim, layout)), Arena.ofAuto());
  }

  static List<LayerCodebooks> layers(
      int layers, int kvHeads, int headDim, int valueHeads, int bits) {
    TestCodebooks random = new TestCodebooks(kvHeads, headDim, valueHeads);
    int stages = CommvqProfile.stages(bits, headDim);
    List<LayerCodebooks> all = new ArrayList<>();
    for (int layer = 0; layer < layers; layer++) {
      all.add(random.layer(stages));
    }
    return all;
  }

  static Rotation rotation(int headDim, RopeLayout layout) {
    float[] frequencies = new float[headDim / 2];
    for (int pair = 0; pair < frequencies.length; pair++) {
      frequencies[pair] = (float) Math.pow(10_000, -(double) pair / frequencies.length);
    }
    return new Rope(layout, frequencies);
  }

  private LayerCodebooks layer(int stages) {
    List<KeyCodebook> keys = new ArrayList<>();
    List<ValueCodebook> values = new ArrayList<>();
    int groupDim = valueHeads * headDim;
    int groupStages = valueHeads * stages;
    for (int head = 0; head < kvHeads; head++) {
      keys.add(new KeyCodebook(gaussian(1, headDim, 1), gaussian(stages, ROWS * headDim, 1)));
    }
    for (int group = 0; group < kvHeads / valueHeads; group++) {
      float[] rows = gaussian(groupStages, 2 * ROWS * groupDim, 1);
      AdditiveStages added = new AdditiveStages(groupStages, groupDim, rows);
      values.add(new ValueCodebook(valueHeads, gaussian(1, groupDim, 0.3), added));
    }
    return new LayerCodebooks(keys, values);
  }

  /** Returns (stages, block) numbers, with channels of different spread. */
  private float[] gaussian(int stages, int block, double spread) {
    float[] numbers = new float[stages * block];
    for (int stage = 0; stage < stages; stage++) {
      double size = spread * Math.pow(0.8, stage) / Math.sqrt(kvHeads * headDim);
      for (int i = stage * block; i < (stage + 1) * block; i++) {
        double channel = 0.5 + i % headDim % 7 / 3.0;
        numbers[i] = (float) (channel * size * random.nextGaussian());
      }
    }
    return numbers;
  }
}
