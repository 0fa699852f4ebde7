package dev.kvasir.cuda.formats.pmkvq;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every scale and zero of a page has its own bytes, between key codes and values. */
class TokenScaledPageTest {
  @ParameterizedTest
  @CsvSource({
    "2, 64, 2816",
    "4, 64, 4864",
    "8, 64, 8960",
    "2, 128, 5376",
    "4, 128, 9472",
    "8, 128, 17664"
  })
  void scalesAndZerosFollowTheKeyCodes(int bits, int headDim, int bytes) {
    TokenScaledPage page = new TokenScaledPage(bits, headDim);
    assertThat(page.bytes()).isEqualTo(bytes).matches(each -> each % 128 == 0);
    BitSet places = new BitSet();
    for (int token = 0; token < 64; token++) {
      places.set(page.keyScaleAt(token));
      places.set(page.keyZeroAt(token));
    }
    assertThat(places.cardinality()).isEqualTo(128);
    assertThat(places.nextSetBit(0)).isEqualTo(page.codes().keyCodeBytes());
    assertThat(places.length()).isEqualTo(page.keyBytes() - 1);
  }
}
