package dev.kvasir.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CandidateRadixSortTest {
  /** One instance sorts all sizes in turn, as in a sampler. */
  @ParameterizedTest
  @CsvSource({"0, 1", "1, 1", "2, 8", "100, 8", "100, 32", "5000, 12", "5000, 32", "300, 1"})
  void sortsByTheUpperHalfAndIsStable(int count, int bits) {
    Random random = new Random(count);
    CandidateRadixSort order = new CandidateRadixSort();
    for (int size : new int[] {count, count / 2, count}) {
      long[] keys = new long[size + 3];
      for (int i = 0; i < keys.length; i++) {
        keys[i] = (long) random.nextInt() >> 32 - bits << 32 | Integer.MAX_VALUE - i;
      }
      long[] expected =
          LongStream.concat(
                  Arrays.stream(keys, 0, size)
                      .boxed()
                      .sorted(Comparator.comparing(key -> key >> 32))
                      .mapToLong(key -> key),
                  Arrays.stream(keys, size, keys.length))
              .toArray();
      order.sort(keys, size);
      assertThat(keys).isEqualTo(expected);
    }
  }
}
