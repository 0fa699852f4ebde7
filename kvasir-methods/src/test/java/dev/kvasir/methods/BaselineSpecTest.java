package dev.kvasir.methods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodRegistry;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.spi.QuantizationMethod;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BaselineSpecTest {
  @Test
  void thirteenBaselinesAreRegisteredAndEveryExampleParses() {
    List<QuantizationMethod> baselines =
        MethodRegistry.all().stream()
            .filter(method -> method.getClass().getPackageName().startsWith("dev.kvasir.methods."))
            .toList();
    assertThat(baselines).hasSize(13);
    for (QuantizationMethod method : baselines) {
      for (MethodExample example : method.examples()) {
        assertThat(CacheSpec.parse(example.spec()).method()).isSameAs(method);
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ott:2,outliers=17 | outliers is 17; expected 1 to 16",
        "zipcache:4      | high is 4; expected more than the 4 bits of other tokens",
        "mikv:2,share=-1 | share is -1; expected 0.0 to 1.0",
        "rotatekv:2,order=model | order is 'model'; possible are on, calibrated, off",
        "skvq:2,clip=no  | clip is 'no'; possible are on, off",
        "kvquant:8       | bits is 8; possible are 2, 3, 4",
        "kvtuner:7       | bits is 7; possible are 2, 3, 4, 5, 6, 8"
      })
  void aBadSpecNamesWhatIsWrong(String spec, String sentence) {
    assertThatThrownBy(() -> CacheSpec.parse(spec))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining(sentence);
  }
}
