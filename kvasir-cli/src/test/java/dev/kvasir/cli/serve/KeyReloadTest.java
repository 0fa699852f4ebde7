package dev.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.server.api.AccessRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KeyReloadTest {
  private final List<AccessRules> taken = new ArrayList<>();
  private AccessRules read = AccessRules.of(List.of("first key"), Set.of());

  @Test
  void aSignalBeforeTheServerTakesEffectWhenItStarts() {
    try (KeyReload keys = KeyReload.install(() -> read, Streams.ofThisProcess())) {
      keys.signalled();
      assertThat(taken).isEmpty();
      keys.startFor(taken::add);
      assertThat(taken).containsExactly(read);
      keys.signalled();
      assertThat(taken).hasSize(2);
    }
  }

  @Test
  void withoutASignalTheServerKeepsItsKeys() {
    try (KeyReload keys = KeyReload.install(this::refuse, Streams.ofThisProcess())) {
      keys.startFor(taken::add);
      keys.signalled();
      assertThat(taken).isEmpty();
    }
  }

  private AccessRules refuse() {
    throw new InvalidInputException("the file is gone");
  }
}
