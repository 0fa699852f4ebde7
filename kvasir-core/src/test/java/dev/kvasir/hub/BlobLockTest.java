package dev.kvasir.hub;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A lock excludes other threads and other processes. */
class BlobLockTest {
  @TempDir Path folder;

  /** Holds a lock until its input ends. */
  static final class Holder {
    public static void main(String[] arguments) throws IOException {
      try (BlobLock _ = BlobLock.acquire(Path.of(arguments[0]), () -> {})) {
        System.out.println("held");
        System.in.read();
      }
    }
  }

  @Test
  void anotherThreadWaits() {
    Path file = folder.resolve("a.lock");
    try (BlobLock _ = BlobLock.acquire(file, () -> {})) {
      assertThat(BlobLock.tryAcquire(file)).isEmpty();
    }
    Optional<BlobLock> next = BlobLock.tryAcquire(file);
    assertThat(next).isPresent();
    next.get().close();
  }

  @Test
  void anotherProcessWaits() throws Exception {
    Path file = folder.resolve("b.lock").toAbsolutePath();
    Process holder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Xshare:auto",
                "-cp",
                System.getProperty("java.class.path"),
                Holder.class.getName(),
                file.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader out =
        new BufferedReader(
            new InputStreamReader(holder.getInputStream(), StandardCharsets.UTF_8))) {
      assertThat(out.readLine()).isEqualTo("held");
      assertThat(BlobLock.tryAcquire(file)).isEmpty();
      List<String> waits = new ArrayList<>();
      // The other process ends once this one waits.
      try (BlobLock _ = BlobLock.acquire(file, () -> end(holder, waits))) {
        assertThat(waits).hasSize(1);
      }
    } finally {
      holder.destroy();
      holder.waitFor();
    }
  }

  private static void end(Process holder, List<String> waits) {
    waits.add("waits");
    try {
      holder.getOutputStream().close();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
