package dev.kvasir.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CodeMatrixHeaderTest {
  private static final int T = PageSize.TOKENS;

  /** One of each kind, in the order of their numbers. */
  static List<CodeMatrix> matrices() {
    return List.of(
        new Bf16Codes(3, T),
        new WideCodes(T, 20, false, 16),
        new WideCodes(20, T, true, 20),
        new KeyChannels(T, 20),
        new RowScaledCodes(20, T, 4, 32),
        new ColumnScaledCodes(7, T, 1),
        new RowScaledCodes(T, 20, 2, 20, ScaleSpan.THIRD),
        new ColumnScaledCodes(20, T, 8, ScaleSpan.THIRD),
        new LloydMaxCodes(T, 20, 2, false),
        new LloydMaxCodes(20, T, 3, true));
  }

  /** Numbers in existing files never change and are not reused. */
  @Test
  void everyKindHasItsOwnNumber() {
    assertThat(matrices())
        .extracting(matrix -> matrix.header().kind())
        .containsExactly(3, 6, 7, 8, 9, 10, 11, 12, 20, 21);
    Stream<Class<?>> known = matrices().stream().map(Object::getClass);
    assertThat(known.distinct())
        .containsExactlyInAnyOrder(CodeMatrix.class.getPermittedSubclasses());
  }

  @ParameterizedTest
  @MethodSource("matrices")
  void aMatrixIsReadAsItDescribesItself(CodeMatrix matrix) {
    ByteBuffer bytes = ByteBuffer.allocate(CodeMatrixHeader.BYTES);
    matrix.header().write(bytes);
    CodeMatrix read = CodeMatrixHeader.read(bytes.flip()).matrix();
    assertThat(read).isInstanceOf(matrix.getClass());
    assertThat(read.header()).isEqualTo(matrix.header());
    assertThat(read.bytes()).isEqualTo(matrix.bytes());
  }

  @Test
  void headersOfNoMatrixAreRefused() {
    for (int kind : new int[] {0, 1, 2, 4, 5, 13}) { // 1, 2, 4 and 5 are retired
      assertThatThrownBy(() -> new CodeMatrixHeader(kind, 2, 20, T, 0).matrix())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(
              "kind %d; known are [3, 6, 7, 8, 9, 10, 11, 12, 20, 21]".formatted(kind));
    }
    for (CodeMatrixHeader wrong :
        Arrays.asList(
            new CodeMatrixHeader(3, 15, 20, T, 0), // bfloat16 has 16 bits
            new CodeMatrixHeader(10, 2, 20, T, 32), // per-column scales have no groups
            new CodeMatrixHeader(9, 2, 20, T, 256), // a group is no larger than the matrix
            new CodeMatrixHeader(9, 9, 20, T, 128),
            new CodeMatrixHeader(9, 2, 0, T, 128),
            new CodeMatrixHeader(6, 16, 20, T, 0),
            new CodeMatrixHeader(8, 2, T, 20, 0))) { // values in keys have no bits
      assertThatThrownBy(wrong::matrix).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
