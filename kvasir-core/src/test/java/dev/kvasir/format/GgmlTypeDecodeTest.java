package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

class GgmlTypeDecodeTest {
  private static final float CANARY = -123456.75f;
  private static final long SEED = 42;

  @Test
  void aQ40BlockByHand() {
    byte[] block = new byte[18];
    block[1] = 0x38; // f16 0x3800 = 0.5
    for (int j = 0; j < 16; j++) {
      block[2 + j] = (byte) (j | (15 - j) << 4); // values 0..15 rise, 16..31 fall
    }
    float[] expected = new float[32];
    for (int i = 0; i < 16; i++) {
      expected[i] = -4 + 0.5f * i;
      expected[31 - i] = -4 + 0.5f * i;
    }
    assertThat(decode(GgmlType.Q4_0, block)).containsExactly(expected);
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.MATCH_ALL, names = "Q[4-8]_[01]|Q[2-6]_K|IQ4_NL")
  void handmadeBlocksDecodeToTheirValues(GgmlType type) {
    Random random = new Random(SEED);
    for (int trial = 0; trial < 200; trial++) {
      HandmadeBlock block = HandmadeBlock.of(type, random);
      assertThat(decode(type, block.bytes()))
          .as("seed %d, trial %d", SEED, trial)
          .containsExactly(withoutNegativeZero(block.values()));
    }
  }

  @ParameterizedTest
  @EnumSource
  void decodingStaysInsideItsRangeOfTheTarget(GgmlType type) {
    byte[] block = new byte[3 + 2 * type.blockBytes()]; // 3 bytes in: unaligned
    int values = 2 * type.blockLength();
    float[] target = new float[values + 12];
    Arrays.fill(target, CANARY);
    type.decode(MemorySegment.ofArray(block), 3, values, target, 5);
    for (int i = 0; i < target.length; i++) {
      boolean inside = i >= 5 && i < 5 + values;
      assertThat(target[i]).as("index %d", i).isEqualTo(inside ? 0 : CANARY);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shortSourcesAndTargetsAreRefusedBeforeAnythingIsWritten(GgmlType type) {
    int values = 2 * type.blockLength();
    MemorySegment source = MemorySegment.ofArray(new byte[2 * type.blockBytes()]);
    float[] target = new float[values];
    Arrays.fill(target, CANARY);
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> type.decode(source, 1, values, target, 0));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> type.decode(source, 0, values, target, 1));
    assertThat(target).containsOnly(CANARY);
  }

  @Test
  void partialBlocksAreRefused() {
    MemorySegment source = MemorySegment.ofArray(new byte[64]);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> GgmlType.Q8_0.decode(source, 0, 31, new float[32], 0))
        .withMessageContaining("multiple of 32");
  }

  @ParameterizedTest
  @CsvSource({
    "F32, 0000803f, 1",
    "F32, 000020c1, -10",
    "F32, 0000807f, Infinity",
    "F16, 003c, 1",
    "F16, 0100, 5.9604645E-8",
    "F16, ff7b, 65504",
    "F16, 00fc, -Infinity",
    "BF16, 803f, 1",
    "BF16, 49c0, -3.140625",
    "BF16, 0100, 9.1835E-41",
    "BF16, 807f, Infinity"
  })
  void floatsAreReadFromLittleEndianBytes(GgmlType type, String hex, float expected) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    assertThat(decode(type, bytes)).containsExactly(expected);
  }

  private static float[] decode(GgmlType type, byte[] bytes) {
    int values = bytes.length / type.blockBytes() * type.blockLength();
    float[] target = new float[values];
    type.decode(MemorySegment.ofArray(bytes), 0, values, target, 0);
    return withoutNegativeZero(target);
  }

  /** If a bias is part of the minimum, a zero may have either sign. */
  private static float[] withoutNegativeZero(float[] values) {
    float[] result = values.clone();
    for (int i = 0; i < result.length; i++) {
      result[i] += 0.0f;
    }
    return result;
  }
}
