package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.CountedArena;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** Tests of small models: all memory outside the heap is free after each of them. */
abstract class FreesEngines {
  @TempDir Path folder;
  final WorkerPool workers = new WorkerPool(2);
  private final long arenasBefore = CountedArena.liveArenas();

  @AfterEach
  void closingFreesAll() {
    workers.close();
    assertThat(CountedArena.liveArenas()).isEqualTo(arenasBefore);
  }
}
