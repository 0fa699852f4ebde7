package dev.kvasir.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Closing several resources when some of them fail. */
class ResourcesTest {
  private final List<String> closed = new ArrayList<>();

  @Test
  void resourcesCloseInReverseOrder() {
    List<AutoCloseable> taken = new ArrayList<>(List.of(named("one"), named("two")));
    Resources.closeAll(taken);
    assertThat(closed).containsExactly("two", "one");
    assertThat(taken).isEmpty();
  }

  @Test
  void failuresDoNotKeepOthersOpen() {
    List<AutoCloseable> taken =
        new ArrayList<>(
            List.of(named("one"), failing("earlier"), named("two"), failing("later"), named("x")));
    assertThatThrownBy(() -> Resources.closeAll(taken))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("later")
        .satisfies(
            failure ->
                assertThat(failure.getSuppressed())
                    .extracting(Throwable::getMessage)
                    .containsExactly("earlier"));
    assertThat(closed).containsExactly("x", "two", "one");
    assertThat(taken).isEmpty();
  }

  @Test
  void argumentsCloseInOrderAndNullsAreSkipped() {
    assertThatThrownBy(() -> Resources.closeAll(named("one"), failing("first"), null, named("two")))
        .hasMessage("first");
    assertThat(closed).containsExactly("one", "two");
  }

  @Test
  void closingDoesNotHideTheFailure() {
    RuntimeException refusal = new DeviceException("no room");
    Resources.closeAfter(refusal, failing("closing"));
    assertThat(refusal.getSuppressed())
        .extracting(Throwable::getMessage)
        .containsExactly("closing");
  }

  private AutoCloseable named(String name) {
    return () -> closed.add(name);
  }

  private static AutoCloseable failing(String why) {
    return () -> {
      throw new IllegalStateException(why);
    };
  }
}
