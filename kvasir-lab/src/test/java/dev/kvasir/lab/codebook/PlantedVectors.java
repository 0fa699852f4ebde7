package dev.kvasir.lab.codebook;

import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.KeyCodebook;
import java.util.Random;

/** Vectors that are sums of known rows, so that the achievable error is known. */
final class PlantedVectors {
  static final int LENGTH = 8;

  final AdditiveStages stages;
  final short[] codes;
  final TrainingSet set;

  /**
   * @param used rows of each 64 that any vector uses
   */
  PlantedVectors(RowStructure structure, int stageCount, int count, int used, long seed) {
    Random random = new Random(seed);
    stages = rows(structure, stageCount, random);
    codes = new short[count * stageCount];
    float[] x = new float[count * LENGTH];
    for (int i = 0; i < count; i++) {
      for (int stage = 0; stage < stageCount; stage++) {
        codes[i * stageCount + stage] =
            (short) (random.nextInt(used) | random.nextInt(used) << AdditiveStages.CODE_BITS / 2);
      }
      stages.decode(codes, i * stageCount, x, i * LENGTH);
    }
    set = new TrainingSet(count, LENGTH, x);
  }

  static AdditiveStages rows(RowStructure structure, int stageCount, Random random) {
    int block = AdditiveStages.ROWS * LENGTH;
    if (structure == RowStructure.COMMUTING) {
      float[] numbers = shrinking(stageCount, block, random);
      return new KeyCodebook(new float[LENGTH], numbers).stages();
    }
    return new AdditiveStages(stageCount, LENGTH, shrinking(stageCount, 2 * block, random));
  }

  private static float[] shrinking(int stages, int block, Random random) {
    float[] x = new float[stages * block];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) (random.nextGaussian() * Math.pow(0.4, i / block));
    }
    return x;
  }
}
