package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Row slices of tensors. */
class TensorRowsTest {
  private final Random random = new Random(5);

  @Test
  void rowsEqualThoseOfTheWholeTensor() {
    for (GgmlType type : new GgmlType[] {GgmlType.F32, GgmlType.F16, GgmlType.Q8_0}) {
      Tensor whole = tensor(type, 6, 64);
      Tensor part = whole.rows(2, 5);
      assertThat(part.shape()).containsExactly(3, 64);
      assertThat(part.type()).isEqualTo(type);
      assertThat(part.toFloats()).isEqualTo(Arrays.copyOfRange(whole.toFloats(), 2 * 64, 5 * 64));
      assertThat(whole.rows(0, 6).data().byteSize()).isEqualTo(whole.data().byteSize());
      assertThat(whole.rows(6, 6).values()).isZero();
    }
  }

  @Test
  void rowsOfAVectorAreItsNumbers() {
    Tensor whole = tensor(GgmlType.F32, 10);
    assertThat(whole.rows(3, 7).toFloats()).isEqualTo(Arrays.copyOfRange(whole.toFloats(), 3, 7));
  }

  @Test
  void rowsThatAreNotThereAreRefused() {
    Tensor whole = tensor(GgmlType.F32, 4, 2);
    for (long[] rows : new long[][] {{-1, 2}, {3, 2}, {0, 5}}) {
      assertThatThrownBy(() -> whole.rows(rows[0], rows[1]))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("rows %d to %d of tensor 'some', whose shape is 4 x 2", rows[0], rows[1]);
    }
  }

  private Tensor tensor(GgmlType type, long... shape) {
    long values = Arrays.stream(shape).reduce(1, (a, b) -> a * b);
    byte[] bytes = new byte[(int) type.bytesFor(values)];
    random.nextBytes(bytes);
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] &= (byte) 0x3F; // finite for every type
    }
    return new Tensor("some", type, shape, MemorySegment.ofArray(bytes));
  }
}
