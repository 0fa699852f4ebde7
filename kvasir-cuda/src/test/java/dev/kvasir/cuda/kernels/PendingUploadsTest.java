package dev.kvasir.cuda.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Host memory outlives its uploads, and many uploads share a wait. */
class PendingUploadsTest {
  private final List<String> events = new ArrayList<>();

  private AutoCloseable source(String name) {
    return () -> events.add(name);
  }

  @Test
  void oneWaitIsForAllUploads() {
    try (PendingUploads uploads = new PendingUploads(() -> events.add("wait"))) {
      uploads.add(source("a"), 10);
      uploads.add(source("b"), PendingUploads.MAX_BYTES - 11);
      assertThat(events).isEmpty();
    }
    assertThat(events).startsWith("wait").containsExactlyInAnyOrder("wait", "a", "b");
  }

  @Test
  void muchMemoryIsNotKept() {
    try (PendingUploads uploads = new PendingUploads(() -> events.add("wait"))) {
      uploads.add(source("a"), 10);
      uploads.add(source("b"), PendingUploads.MAX_BYTES);
      assertThat(events).startsWith("wait").containsExactlyInAnyOrder("wait", "a", "b");
    }
    assertThat(events).hasSize(3); // nothing is left to wait for
  }

  @Test
  void aFailedUploadFreesTheMemoryToo() {
    PendingUploads uploads =
        new PendingUploads(
            () -> {
              throw new IllegalStateException("the device failed");
            });
    uploads.add(source("a"), 10);
    assertThatThrownBy(uploads::close).hasMessage("the device failed");
    assertThat(events).containsExactly("a");
  }
}
