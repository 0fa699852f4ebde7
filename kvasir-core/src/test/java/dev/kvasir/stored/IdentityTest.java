package dev.kvasir.stored;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The identity of what a GPU has stored. */
class IdentityTest {
  private static final Identity HOST = new Identity("w", "m", "kivi:2,sinks=16", "p", 7, "t");

  @Test
  void pagesOfAGpuHaveAnotherIdentity() {
    Identity gpu = HOST.onGpu();
    assertThat(gpu).isNotEqualTo(HOST);
    assertThat(gpu.digest()).isNotEqualTo(HOST.digest());
    assertThat(gpu.isOnGpu()).isTrue();
    assertThat(HOST.isOnGpu()).isFalse();
    assertThat(gpu.onGpu()).isEqualTo(gpu);
    assertThat(HOST.differenceOf(gpu))
        .contains("was stored from a GPU, and only a GPU continues it; expected --device cuda");
    assertThat(gpu.differenceOf(HOST))
        .contains("was stored from the CPU, and no GPU continues it; expected --device cpu");
    assertThat(gpu.differenceOf(HOST.onGpu())).isEmpty();
  }

  @Test
  void theSpecificationOfTheCacheIsTheSame() {
    assertThat(HOST.cacheSpec()).isEqualTo("kivi:2,sinks=16");
    assertThat(HOST.onGpu().cacheSpec()).isEqualTo("kivi:2,sinks=16");
  }

  @Test
  void otherPartsStayTheSame() {
    Identity gpu = HOST.onGpu();
    assertThat(gpu.withTenant("u").isOnGpu()).isTrue();
    assertThat(new Identity(gpu.weights(), gpu.model(), HOST.spec(), gpu.profile(), 7, "t"))
        .isEqualTo(HOST);
  }
}
