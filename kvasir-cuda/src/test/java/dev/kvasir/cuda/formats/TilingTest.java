package dev.kvasir.cuda.formats;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cuda.formats.PagedAttention.Tiling;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TilingTest {
  /** Cards have 99, 163 or 227 KiB of shared memory for a block. */
  @ParameterizedTest
  @CsvSource({
    "kivi2, 128, 16, 227, 16, 2",
    "kivi4, 128, 16, 227, 16, 1",
    "kivi2, 128, 16, 99, 12, 1",
    "kivi4, 256, 8, 99, 4, 1",
    "fp16, 128, 16, 227, 8, 2",
    "fp16, 64, 16, 227, 16, 2"
  })
  void blocksFitSharedMemory(String name, int dim, int most, int kibibytes, int warps, int stages) {
    PageFormat format = Formats.named(name);
    Tiling tiling = Tiling.of(format, dim, 1, most, kibibytes << 10);
    assertThat(tiling).isEqualTo(new Tiling(warps, stages));
  }
}
