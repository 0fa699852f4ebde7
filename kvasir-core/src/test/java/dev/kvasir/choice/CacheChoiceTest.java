package dev.kvasir.choice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.choice.CacheCandidate.Status;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.error.InvalidInputException;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class CacheChoiceTest {
  private static final CacheShape SHAPE = new CacheShape(4, 2, 64);
  private static final int TOKENS = 8192;

  private static final CacheFigures FIGURES =
      new CacheFigures(
          "a test",
          List.of(
              figure("kivi:2", 0.12, 1.2),
              figure("kivi:4", 0.004, 1.1),
              figure("patternkv:2", 0.05, 0.7),
              figure("mead:2", 0.001, 1)));

  private static CacheFigure figure(String spec, double divergence, double speed) {
    return new CacheFigure(spec, divergence, OptionalDouble.of(speed));
  }

  private static ChoiceRequest request(long memory) {
    return new ChoiceRequest(SHAPE, CacheContext.unknown(), TOKENS, 256, memory);
  }

  private static long bytes(String spec) {
    return request(1).bytes(CacheSpec.parse(spec));
  }

  private static CacheChoice choose(long memory) {
    return CacheChoice.choose(request(memory), FIGURES);
  }

  @Test
  void sixteenBitsAreChosenWhereTheyFit() {
    CacheChoice choice = choose(bytes("fp16"));
    assertThat(choice.spec()).isEqualTo(CacheSpec.DEFAULT);
    assertThat(choice.reason()).startsWith("fp16 takes 16.").contains("8,192 tokens");
    assertThat(choose(bytes("fp16") - 1).spec()).isNotEqualTo(CacheSpec.DEFAULT);
  }

  @Test
  void theBestThatFitsIsChosenByDivergence() {
    CacheChoice choice = choose(bytes("kivi:4"));
    assertThat(choice.spec().text()).isEqualTo("kivi:4");
    assertThat(choice.reason())
        .contains("divergence 0.0040 and 1.10 times the speed of fp16 by a test");
    assertThat(choice.candidates())
        .extracting(each -> each.spec().text())
        .containsExactly("fp16", "mead:2", "kivi:4", "patternkv:2", "kivi:2");
  }

  @Test
  void aCacheThatTheModelCannotHaveIsPassedOverWithTheReason() {
    CacheCandidate mead = choose(bytes("kivi:4")).candidates().get(1);
    assertThat(mead.status()).isEqualTo(Status.UNUSABLE);
    assertThat(mead.note()).contains("'mead:2'");
    assertThat(mead.bytes()).isEmpty();
  }

  /** Patterns have half of the divergence of two bits, which is worth their time. */
  @Test
  void aSlowerCacheIsChosenWhereItIsMuchBetter() {
    assertThat(bytes("patternkv:2")).isBetween(bytes("kivi:2"), bytes("kivi:4"));
    assertThat(choose(bytes("patternkv:2")).spec().text()).isEqualTo("patternkv:2");
    CacheFigures alike =
        new CacheFigures(
            "a test", List.of(figure("kivi:2", 0.09, 1.2), figure("patternkv:2", 0.05, 0.7)));
    assertThat(CacheChoice.choose(request(bytes("patternkv:2")), alike).spec().text())
        .isEqualTo("kivi:2");
    assertThat(CacheChoice.choose(request(bytes("kivi:4")), FIGURES).spec().text())
        .isEqualTo("kivi:4");
  }

  @Test
  void aDeviceMayNotSupportACache() {
    ChoiceRequest onDevice =
        request(bytes("kivi:4")).withSupport(spec -> !spec.text().startsWith("kivi:4"));
    assertThat(CacheChoice.choose(onDevice, FIGURES).spec().text()).isEqualTo("patternkv:2");
  }

  @Test
  void memoryThatHoldsNothingIsRefusedWithTheLeast() {
    assertThatThrownBy(() -> choose(bytes("kivi:2") - 1))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("no cache holds 8,192 tokens in", "'kivi:2' takes", "the least");
  }
}
