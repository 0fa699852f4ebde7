package dev.kvasir.cli.arguments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.Calibration;
import dev.kvasir.codec.Calibration.Command;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodRegistry;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.spi.QuantizationMethod;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class MethodHelpTest {
  private static final QuantizationMethod FLOATS = CacheSpec.DEFAULT.method();

  @Test
  void everyMethodHasItsHelpInTheOrderOfTheRegistry() {
    assertThat(MethodHelp.all(List.of(FLOATS, method("b", true), method("a", true))))
        .isEqualTo(
            """
            A cache is METHOD:BITS and keys of the method, as in kivi:4 or kivi:2,group=64.

              fp16, bf16, fp32       not quantized
              b                      some keys
              a                      some keys

            Keys of all quantized caches:
              window=N               keep at least the last N tokens in 16 bits
              sinks=N                keep the first N tokens in 16 bits
              prefill=chunked|exact  quantize a prompt while it is read, or at its end
              operands=15|8          bits to which queries and probabilities are rounded
              cold=BITS@TOKENS       save blocks that TOKENS tokens follow with fewer bits;
                                     methods without per-sequence state
              rotary=8|16            bits of rotary channels, with latent attention\
            """);
  }

  @Test
  void methodsWithSettingsOfTheirPaperAreNamed() {
    assertThat(MethodHelp.all(MethodRegistry.all()).replaceAll("\\s+", " "))
        .contains("as=paper the settings of the method's paper; kivi, patternkv, mixkvq, pmkvq,");
  }

  @Test
  void methodsWithoutOperandPrecisionAreExcepted() {
    List<QuantizationMethod> methods =
        List.of(method("a", true), method("another", false), method("one-more", false));
    assertThat(MethodHelp.all(methods).replaceAll("\\s+", " "))
        .contains("probabilities are rounded; not another, one-more");
  }

  @Test
  void whatCanBeCalibratedIsTypedWithItsBits() {
    assertThat(MethodHelp.calibrated(List.of(FLOATS, method("a", true), method("b", false))))
        .isEqualTo("a:BITS or b:BITS");
    assertThat(MethodHelp.calibrated(MethodRegistry.all()))
        .contains("pmkvq:BITS", "mead")
        .doesNotContain("mead:BITS");
  }

  @Test
  void aTextWithoutANameGetsOne() {
    assertThat(MethodHelp.all(List.of(method("a", "some keys", true))))
        .contains("  a:BITS                 some keys\n");
  }

  private static QuantizationMethod method(String name, boolean looksUp) {
    return method(name, name + ": some keys", looksUp);
  }

  private static QuantizationMethod method(String name, String help, boolean looksUp) {
    return new QuantizationMethod() {
      @Override
      public List<String> names() {
        return List.of(name);
      }

      @Override
      public String syntax() {
        return name + ":BITS";
      }

      @Override
      public List<String> help() {
        return List.of(help);
      }

      @Override
      public List<MethodExample> examples() {
        return List.of();
      }

      @Override
      public QuantizationConfig parse(SpecText spec) {
        throw new UnsupportedOperationException();
      }

      @Override
      public boolean supportsOperandPrecision() {
        return looksUp;
      }

      @Override
      public Optional<Calibration> calibration() {
        return Optional.of(new Calibration(Command.CALIBRATE, List.of(1, 2)));
      }
    };
  }
}
