package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Experts of gpt-oss in the layout of its checkpoint. */
class Mxfp4PairTest {
  private static final int EXPERTS = 3;
  private static final int ROWS = 4;
  private static final int GROUPS = 2;

  private static final double[] FLOATS = {
    0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6
  };

  @TempDir Path folder;

  private final byte[] blocks = new byte[EXPERTS * ROWS * GROUPS * 16];
  private final byte[] scales = new byte[EXPERTS * ROWS * GROUPS];

  Mxfp4PairTest() {
    Random random = new Random(7);
    random.nextBytes(blocks);
    for (int i = 0; i < scales.length; i++) {
      scales[i] = (byte) (120 + random.nextInt(16));
    }
  }

  /** Values 2j and 2j + 1 of a group are the low and the high half of byte j. */
  private float value(int expert, int row, int column) {
    int group = (expert * ROWS + row) * GROUPS + column / 32;
    int pair = blocks[group * 16 + column % 32 / 2];
    int nibble = column % 2 == 0 ? pair & 15 : pair >> 4 & 15;
    return (float) (FLOATS[nibble] * Math.pow(2, (scales[group] & 255) - 127));
  }

  @Test
  void expertsAreReadFromBlocksAndScales() {
    write("model.safetensors", true, true);
    try (SafetensorsFolder weights = SafetensorsFolder.open(folder)) {
      Mxfp4Pair pair = weights.findMxfp4("down_proj").orElseThrow();
      assertThat(pair.experts()).isEqualTo(EXPERTS);
      assertThat(pair.rows()).isEqualTo(ROWS);
      assertThat(pair.columns()).isEqualTo(64);
      for (int expert = 0; expert < EXPERTS; expert++) {
        Tensor matrix = pair.expert(expert);
        assertThat(matrix.type()).isEqualTo(GgmlType.MXFP4);
        assertThat(matrix.shape()).containsExactly(ROWS, 64);
        assertValues(matrix, expert, 0, 1);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 2", "1, 2", "2, 3", "3, 1"})
  void interleavedRowsOfTwoMatricesAreSeparated(int firstRow, int step) {
    write("model.safetensors", true, true);
    try (SafetensorsFolder weights = SafetensorsFolder.open(folder)) {
      Mxfp4Pair pair = weights.findMxfp4("down_proj").orElseThrow();
      assertValues(pair.expert(2, firstRow, step), 2, firstRow, step);
      assertThatExceptionOfType(IndexOutOfBoundsException.class)
          .isThrownBy(() -> pair.expert(EXPERTS));
      assertThatExceptionOfType(IndexOutOfBoundsException.class)
          .isThrownBy(() -> pair.expert(0, ROWS, 1));
    }
  }

  @Test
  void aPairMaySpanTwoShards() throws IOException {
    write("one.safetensors", true, false);
    write("two.safetensors", false, true);
    Files.writeString(
        folder.resolve("model.safetensors.index.json"),
        """
        {"weight_map": {"down_proj_blocks": "one.safetensors",
                        "down_proj_scales": "two.safetensors"}}""");
    try (SafetensorsFolder weights = SafetensorsFolder.open(folder)) {
      assertValues(weights.findMxfp4("down_proj").orElseThrow().expert(1), 1, 0, 1);
      assertThat(weights.pairedBytes()).containsOnlyKeys("down_proj_blocks", "down_proj_scales");
    }
  }

  @Test
  void halfAPairIsNotFound() {
    write("model.safetensors", true, false);
    try (SafetensorsFolder weights = SafetensorsFolder.open(folder)) {
      assertThat(weights.findMxfp4("down_proj")).isEmpty();
      assertThat(weights.findMxfp4("up_proj")).isEmpty();
      assertThat(weights.pairedBytes()).isEmpty();
      assertThat(catchThrowable(() -> weights.find("down_proj_blocks")))
          .hasMessageEndingWith("has dtype U8; supported are F32, F16, BF16");
    }
  }

  @Test
  void shapesThatDoNotFitAreRefused() {
    new SafetensorsWriter()
        .tensor("w_blocks", "U8", new byte[64], 1, 2, 2, 16)
        .tensor("w_scales", "U8", new byte[4], 2, 1, 2)
        .tensor("v_blocks", "U8", new byte[16], 16)
        .tensor("v_scales", "U8", new byte[0], 1, 0, 1)
        .writeTo(folder.resolve("model.safetensors"));
    try (SafetensorsFolder weights = SafetensorsFolder.open(folder)) {
      assertThat(
              InMemoryFiles.refusal(
                  folder.toString(), catchThrowable(() -> weights.findMxfp4("w"))))
          .isEqualTo(
              "tensors 'w_blocks' and 'w_scales' have shapes 1 x 2 x 2 x 16 and 2 x 1 x 2; expected"
                  + " experts x rows x groups x 16 and experts x rows x groups");
      assertThat(
              InMemoryFiles.refusal(
                  folder.toString(), catchThrowable(() -> weights.findMxfp4("v"))))
          .startsWith("tensors 'v_blocks' and 'v_scales' have shapes 16 and 1 x 0 x 1;");
    }
  }

  private void write(String file, boolean withBlocks, boolean withScales) {
    SafetensorsWriter writer = new SafetensorsWriter();
    if (withBlocks) {
      writer.tensor("down_proj_blocks", "U8", blocks, EXPERTS, ROWS, GROUPS, 16);
    }
    if (withScales) {
      writer.tensor("down_proj_scales", "U8", scales, EXPERTS, ROWS, GROUPS);
    }
    writer.writeTo(folder.resolve(file));
  }

  private void assertValues(Tensor matrix, int expert, int firstRow, int step) {
    float[] floats = matrix.toFloats();
    int at = 0;
    for (int row = firstRow; row < ROWS; row += step) {
      for (int column = 0; column < 64; column++) {
        assertThat(floats[at++] + 0f).isEqualTo(value(expert, row, column) + 0f);
      }
    }
    assertThat(at).isEqualTo(floats.length);
  }
}
