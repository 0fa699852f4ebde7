package dev.kvasir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class KvCacheSpecTest {
  @Test
  void factoriesGiveTheSameSpecsAsTheirText() {
    assertThat(KvCacheSpec.fp16().text()).isEqualTo("fp16");
    assertThat(KvCacheSpec.kivi(2).text()).isEqualTo("kivi:2");
    assertThat(KvCacheSpec.patternkv(4).text()).isEqualTo("patternkv:4");
    assertThat(KvCacheSpec.pmkvq(2, "512MiB").text()).isEqualTo("pmkvq:2,budget=512MiB");
    assertThat(KvCacheSpec.mixkvq().text()).isEqualTo("mixkvq");
    assertThat(KvCacheSpec.commvq(1).text()).isEqualTo("commvq:1");
    assertThat(KvCacheSpec.mead(2).text()).isEqualTo("mead:2");
    assertThat(KvCacheSpec.mead(1.5).text()).isEqualTo("mead:1.5");
    assertThat(KvCacheSpec.kivi(2)).isEqualTo(KvCacheSpec.parse("kivi:2"));
  }

  @Test
  void settingsFollowTheMethodAndReplaceEarlierOnes() {
    KvCacheSpec spec = KvCacheSpec.kivi(2).window(128).sinks(5).group(64);
    assertThat(spec.text()).isEqualTo("kivi:2,window=128,sinks=5,group=64");
    assertThat(spec.window(0).text()).isEqualTo("kivi:2,window=0,sinks=5,group=64");
    assertThat(KvCacheSpec.kivi(2).text()).isEqualTo("kivi:2");
  }

  @Test
  void anOlderNameOfAKeySetsTheSameKey() {
    assertThat(KvCacheSpec.parse("kivi:2,operands=15").with("lookup", "fast").text())
        .isEqualTo("kivi:2,operands=8");
  }

  @Test
  void whatAMethodDoesNotHaveIsRefusedAtOnce() {
    assertThatThrownBy(() -> KvCacheSpec.kivi(5))
        .isInstanceOf(KvasirException.class)
        .hasMessageContaining("bits is 5; possible are");
    assertThatThrownBy(() -> KvCacheSpec.kivi(2).with("patterns", 3))
        .isInstanceOf(KvasirException.class)
        .hasMessageContaining("'patterns=3' is no key=value of kivi");
    assertThatThrownBy(() -> KvCacheSpec.fp16().window(3))
        .isInstanceOf(KvasirException.class)
        .hasMessageContaining("fp16");
  }
}
