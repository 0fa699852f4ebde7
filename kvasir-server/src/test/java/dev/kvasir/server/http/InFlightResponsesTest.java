package dev.kvasir.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class InFlightResponsesTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  @Test
  void responsesBeingWrittenAreAwaited() throws Exception {
    InFlightResponses words = new InFlightResponses();
    InFlightResponses.InFlight first = words.begin();
    InFlightResponses.InFlight second = words.begin();
    try (ExecutorService closing = Executors.newSingleThreadExecutor()) {
      Future<Boolean> ended = closing.submit(() -> words.await(LONG));
      first.close();
      assertThat(ended.isDone()).isFalse();
      second.close();
      assertThat(ended.get()).isTrue();
    }
  }

  @Test
  void finishedResponsesAreNotAwaited() throws Exception {
    InFlightResponses words = new InFlightResponses();
    words.begin().close();
    words.begin().close();
    assertThat(words.await(LONG)).isTrue();
  }

  @Test
  void aClientThatReadsNothingIsNotAwaitedForever() throws Exception {
    InFlightResponses words = new InFlightResponses();
    words.begin();
    assertThat(words.await(Duration.ofMillis(1))).isFalse();
  }
}
