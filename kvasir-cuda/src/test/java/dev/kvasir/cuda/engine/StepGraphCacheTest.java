package dev.kvasir.cuda.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cuda.engine.StepGraphCache.Shape;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.kernels.RowCounts;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Steps of one shape share an object, and another shape is another one. */
class StepGraphCacheTest {
  private static final RowCounts ROWS = new RowCounts(3, 7);

  private static Shape shape(Shape before, RowCounts rows, int chunks, List<Integer> dequantized) {
    return Shape.of(before, DeviceCacheConfig.FP16, rows, ROWS, 3, null, chunks, 4, dequantized);
  }

  @Test
  void anUnchangedShapeIsReused() {
    Shape first = shape(null, ROWS, 2, List.of(64, 0));
    assertThat(shape(first, ROWS, 2, List.of(64, 0))).isSameAs(first);
    assertThat(ROWS.with(3, 7)).isSameAs(ROWS);
  }

  @Test
  void aChangedShapeIsNotReused() {
    Shape first = shape(null, ROWS, 2, List.of(64, 0));
    assertThat(shape(first, ROWS, 1, List.of(64, 0))).isNotEqualTo(first);
    assertThat(shape(first, ROWS, 2, List.of(128, 0))).isNotEqualTo(first);
    assertThat(shape(first, ROWS.with(3, 8), 2, List.of(64, 0))).isNotEqualTo(first);
    assertThat(shape(first, ROWS.with(2, 7), 2, List.of(64, 0)))
        .isEqualTo(shape(null, new RowCounts(2, 7), 2, List.of(64, 0)));
  }
}
