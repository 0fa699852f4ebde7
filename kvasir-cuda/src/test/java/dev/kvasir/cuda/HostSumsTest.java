package dev.kvasir.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.KernelChoice;
import org.junit.jupiter.api.Test;

class HostSumsTest {
  @Test
  void theOrderOfThisProcessIsOneThatADeviceKnows() {
    assertThat(HostSums.lanes(KernelChoice.ofThisProcess().kernels())).isIn(4, 8, 16);
  }

  @Test
  void partsAreAddedNeighbourByNeighbour() {
    float[] a = {1, 2, 3, 4, 5, 6, 7, 8};
    float[] ones = {1, 1, 1, 1, 1, 1, 1, 1};
    assertThat(HostSums.product(a, ones, 4)).isEqualTo(36);
    float[] large = {1e8f, 1, -1e8f, 1, 0, 0, 0, 0};
    assertThat(HostSums.product(large, ones, 4)).isEqualTo(0);
    assertThat(HostSums.product(large, ones, 8)).isEqualTo(0);
  }
}
