package dev.kvasir.cuda.formats.patternkv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cuda.memory.Fp16Page;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Labels of patterns have their own bytes in a page. */
class PatternPageTest {
  private static final int TOKENS = Fp16Page.TOKENS;

  /** Labels follow keys and follow values. */
  @ParameterizedTest
  @CsvSource({"2, 64, 3200", "2, 128, 6272", "4, 64, 5248", "4, 128, 10368"})
  void patternLabelsDoNotOverlap(int bits, int headDim, int bytes) {
    PatternPage page = new PatternPage(bits, headDim);
    PatternPageReader reader = new PatternPageReader(page);
    byte[] numbered = new byte[bytes];
    for (int i = 0; i < bytes; i++) {
      numbered[i] = (byte) (i % 251);
    }
    MemorySegment all = MemorySegment.ofArray(numbered);
    MemorySegment codes = reader.residuals(all);
    int keyBytes = page.codes().keyBytes();
    assertThat(page.bytes()).isEqualTo(bytes);
    assertThat(page.bytes() % TOKENS).isZero();
    assertThat(codes.asSlice(0, keyBytes).mismatch(all.asSlice(0, keyBytes))).isEqualTo(-1);
    assertThat(reader.labelAt(0, 0)).isEqualTo(keyBytes);
    assertThat(reader.labelAt(1, TOKENS - 1)).isEqualTo(bytes - 1);
    assertThat(codes.get(ValueLayout.JAVA_BYTE, keyBytes)).isEqualTo(numbered[keyBytes + TOKENS]);
    assertThat(codes.byteSize()).isEqualTo(page.codes().bytes());
  }
}
