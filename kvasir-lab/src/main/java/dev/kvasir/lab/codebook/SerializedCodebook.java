package dev.kvasir.lab.codebook;

import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.Codebook;
import dev.kvasir.codec.commvq.KeyCodebook;
import dev.kvasir.codec.commvq.ValueCodebook;
import dev.kvasir.lab.codebook.VectorSample.Side;
import java.io.Serializable;

/**
 * The data of a codebook.
 *
 * @param mean (channels)
 * @param rows (stages, 2, ROWS, channels)
 */
record SerializedCodebook(float[] mean, float[] rows) implements Serializable {
  Codebook codebook(Side side, CodebookPlan plan) {
    int stages = rows.length / (2 * AdditiveStages.ROWS * mean.length);
    AdditiveStages all = new AdditiveStages(stages, mean.length, plan.rows(), rows);
    return switch (side) {
      case KEYS -> KeyCodebook.of(mean, all);
      case VALUES -> new ValueCodebook(plan.valueHeads(), mean, all);
    };
  }
}
