package dev.kvasir.store.folder;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CrashTest {
  private static final int SAVES = Boolean.getBoolean("kvasir.thorough") ? 1_000 : 250;

  @TempDir private Path folder;

  @Test
  void aKilledProcessLosesNoConfirmedWriteAndLeavesNothingDamaged() throws Exception {
    KilledSaves saves = new KilledSaves(folder);
    while (saves.confirmed() < SAVES) {
      saves.startAndKill();
    }
    assertThat(saves.lost()).isEmpty();
    assertThat(saves.damaged()).isEmpty();
  }
}
