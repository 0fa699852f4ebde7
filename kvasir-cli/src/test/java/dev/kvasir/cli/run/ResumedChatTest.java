package dev.kvasir.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code chat --resume}: a saved conversation continues. */
class ResumedChatTest {
  @TempDir Path folder;

  private CommandRun chat(String lines, String... arguments) {
    Stream<String> always =
        Stream.of("chat", "--temperature=0", "--max-tokens=3", "--dir", folder.toString());
    return CommandRun.withInput(
        lines, Stream.concat(always, Stream.of(arguments)).toArray(String[]::new));
  }

  private String lastLine(CommandRun run) {
    return run.succeeds().out().lines().reduce((first, second) -> second).orElse("");
  }

  @Test
  void itContinuesAsIfItHadNotStoppedAndPrefillsOnlyWhatIsNew() {
    CommandRun first =
        chat("Hello\n", "--kv=kivi:2", "--system=Be brief.", "--resume=letters").succeeds();
    assertThat(first.err())
        .contains("'letters' is new, and kept in " + folder)
        .containsPattern("kept as 'letters', \\d+ tokens; kvasir chat --resume letters goes on");
    CommandRun second = chat("Again\n/stats\n", "--resume=letters").succeeds();
    assertThat(second.err())
        .containsPattern("restored \\d+ tokens \\(kivi:2\\) from .*letters.session")
        .contains("(kivi:2, nothing quantized yet)")
        .contains("33 tokens of 16,384 in the context", "last answer: read 11 tokens");
    CommandRun whole = chat("Hello\nAgain\n", "--kv=kivi:2", "--system=Be brief.");
    assertThat(lastLine(second)).isEqualTo(lastLine(whole));
    chat("Hello\n", "--system=Be long.", "--resume=letters")
        .isRefusedWith("--system is 'Be long.'", "'letters' began with 'Be brief.'");
    chat("Hello\n", "--kv=kivi:4", "--resume=letters").isRefusedWith("saved with 'kivi:2'");
  }

  @Test
  void theMessagesCountWhateverTheSessionHolds() throws IOException {
    chat("Hello\n", "--resume=letters").succeeds();
    Path session = folder.resolve("letters.session");
    Path messages = folder.resolve("letters.json");
    byte[] early = Files.readAllBytes(session);
    chat("Again\n", "--resume=letters").succeeds();
    String transcript = Files.readString(messages);
    String answer = lastLine(chat("And now?\n", "--resume=letters"));
    byte[] late = Files.readAllBytes(session);
    for (byte[] found : new byte[][] {early, late}) {
      Files.write(session, found);
      Files.writeString(messages, transcript);
      assertThat(lastLine(chat("And now?\n", "--resume=letters"))).isEqualTo(answer);
    }
    Files.delete(session);
    Files.writeString(messages, transcript);
    CommandRun without = chat("And now?\n", "--resume=letters");
    assertThat(lastLine(without)).isEqualTo(answer);
    assertThat(without.err()).contains("of 'letters' the messages alone are kept");
  }

  @Test
  void aConversationIsGivenANameWhileItGoesOn() {
    assertThat(chat("Hello\n/save letters\n/save ../x\n").succeeds().err())
        .contains("kept as 'letters'", "the session's name is '../x'; expected 1 to 64");
    assertThat(chat("/save letters\n").succeeds().err())
        .contains("'letters' is the name of another conversation");
    assertThat(chat("/reset\n", "--resume=letters").succeeds().err())
        .contains("the conversation is forgotten", "kept as 'letters', 0 tokens");
  }

  @Test
  void whatCannotBeResumedIsRefused() throws IOException {
    chat("Hello\n", "--resume=../letters").isRefusedWith("the session's name is '../letters'");
    chat("Hello\n", "--repack", "--kv=kivi:2").isRefusedWith("expected --resume NAME with it");
    Files.writeString(folder.resolve("torn.json"), "{\"messages\": [{\"role\": \"user\"");
    CommandRun torn = chat("Hello\n", "--resume=torn");
    assertThat(torn.exitCode()).isEqualTo(2);
    assertThat(torn.err()).contains("torn.json: is not valid JSON");
  }
}
