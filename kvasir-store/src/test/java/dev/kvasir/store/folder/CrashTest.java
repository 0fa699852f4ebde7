package dev.kvasir.store.folder;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CrashTest {
  private static final int KILLS = 8;

  @TempDir private Path folder;

  @Test
  void aProcessThatIsKilledAtAnyMomentLosesNothingItPromisedAndLeavesNothingDamaged()
      throws Exception {
    KilledSaves saves = new KilledSaves(folder);
    for (int i = 0; i < KILLS; i++) {
      saves.startAndKill();
    }
    assertThat(saves.promised()).isGreaterThanOrEqualTo(KILLS / 2);
    assertThat(saves.lost()).isEmpty();
    assertThat(saves.damaged()).isEmpty();
  }
}
