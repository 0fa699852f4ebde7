package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.terminal.Streams;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SubcommandTest {
  private static final PrintStream NOWHERE = new PrintStream(OutputStream.nullOutputStream());

  private static Set<String> madeFor(String... arguments) {
    Streams streams =
        new Streams(InputStream.nullInputStream(), NOWHERE, NOWHERE, false, false, false);
    return Kvasir.commandLine(streams, arguments).getSubcommands().keySet();
  }

  @Test
  void aCommandIsFoundByTheNameThatItGivesItself() {
    for (String name : madeFor()) {
      assertThat(madeFor(name)).contains(name);
    }
  }

  @Test
  void onlyTheNamedCommandIsCreated() {
    assertThat(madeFor("generate", "Once")).containsExactlyInAnyOrder("generate", "help");
  }

  @Test
  void aMistypedNameIsComparedWithAll() {
    assertThat(madeFor("generat")).isEqualTo(madeFor()).contains("generate", "serve");
  }

  @Test
  void completionListsAllCommands() {
    assertThat(madeFor("completion", "bash")).isEqualTo(madeFor());
  }

  @Test
  void claimsRunOtherCommands() {
    assertThat(madeFor("claims", "--run", "4")).contains("compare", "eval");
  }
}
