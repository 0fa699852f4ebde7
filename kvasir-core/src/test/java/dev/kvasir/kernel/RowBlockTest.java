package dev.kvasir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class RowBlockTest {
  private final float[] values = new float[40];
  private final RowBlock block = RowBlock.of(values, 3, 10, 4, 6);

  @Test
  void rowsBeginAStrideApart() {
    assertThat(block.at()).isEqualTo(3);
    assertThat(block.at(3)).isEqualTo(33);
    assertThat(RowBlock.of(values, 4, 6).at(3)).isEqualTo(18);
  }

  @Test
  void columnsKeepTheRows() {
    RowBlock columns = new RowBlock().setColumns(block, 2, 3);
    assertThat(columns.values()).isSameAs(values);
    assertThat(columns.at(1)).isEqualTo(15);
    columns.requireShape(4, 3);
  }

  @Test
  void otherShapesAreRefused() {
    block.requireShape(4, 6);
    assertThatThrownBy(() -> block.requireShape(4, 7))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("4 rows of 6 values; expected 4 of 7");
    assertThatThrownBy(() -> block.requireShape(3, 6)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void gapsBetweenRowsAreRefused() {
    RowBlock.of(values, 3, 6, 4, 6).requireContiguous();
    assertThatThrownBy(block::requireContiguous)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("rows of 6 values, 10 apart; expected one after another");
  }

  @Test
  void javaKernelsRefuseOperandsThatDoNotFit() {
    FloatKernels floats = new ScalarFloats();
    assertThatThrownBy(() -> floats.products(block, RowBlock.of(values, 2, 5), block))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> floats.weightedSums(block, block, block))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
