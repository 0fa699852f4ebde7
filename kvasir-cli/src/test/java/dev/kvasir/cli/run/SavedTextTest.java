package dev.kvasir.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code generate --session}: a saved text continues. */
class SavedTextTest {
  private static final String PROMPT = "Once upon a time";

  @TempDir Path folder;

  private static CommandRun generate(String... arguments) {
    Stream<String> all =
        Stream.concat(Stream.of("generate", "--temperature=0"), Stream.of(arguments));
    return CommandRun.of(all.toArray(String[]::new));
  }

  private String[] withSession(String... arguments) {
    Stream<String> file = Stream.of("--session", folder.resolve("tale").toString());
    return Stream.concat(file, Stream.of(arguments)).toArray(String[]::new);
  }

  @Test
  void itGoesOnAsIfItHadNotStoppedWithoutAPromptAndWithOne() {
    CommandRun first = generate(withSession("--kv=kivi:2", "-n=4", PROMPT)).succeeds();
    CommandRun second = generate(withSession("-n=4")).succeeds();
    CommandRun whole = generate("--kv=kivi:2", "-n=8", PROMPT).succeeds();
    assertThat(first.out().replaceAll("\\R$", "") + second.out()).isEqualTo(whole.out());
    assertThat(first.err()).containsPattern("saved 9 tokens \\(kivi:2\\) to .*tale, .* in .* ms");
    assertThat(second.err())
        .containsPattern("restored 9 tokens \\(kivi:2\\) from .*tale, .*KiB in .* ms")
        .contains("prompt 1 token at", "saved 13 tokens");
    assertThat(generate(withSession("-n=1", " And then")).succeeds().err())
        .contains("restored 13 tokens", "prompt 3 tokens at", "saved 16 tokens");
  }

  @Test
  void theFileDecidesAndWhateverElseIsTypedIsRefusedByBothNames() {
    generate(withSession("--kv=kivi:4", "-n=1", PROMPT)).succeeds();
    generate(withSession("--kv=kivi:2", "x"))
        .isRefusedWith("--kv is 'kivi:2'", "tale was saved with 'kivi:4'", "--repack requantizes");
    generate(withSession("--prefill=exact", "x"))
        .isRefusedWith("--prefill is 'exact'", "was saved with 'chunked'");
    generate(withSession("--context=99", "x"))
        .isRefusedWith("--context is '99'", "saved with 'all that the model can hold'");
    generate(withSession("--repack", "x")).isRefusedWith("--repack", "expected --kv SPEC");
  }

  @Test
  void itGoesOnWithAnotherKindOfCacheWhereThatIsAskedFor() throws IOException {
    generate(withSession("--kv=kivi:4", "-n=1", PROMPT)).succeeds();
    byte[] before = Files.readAllBytes(folder.resolve("tale"));
    generate(withSession("--kv=mixkvq", "--repack", "x"))
        .isRefusedWith("'mixkvq' quantizes by attention");
    assertThat(Files.readAllBytes(folder.resolve("tale"))).isEqualTo(before);
    assertThat(generate(withSession("--kv=kivi:2", "--repack", "-n=1")).succeeds().err())
        .contains("restored 6 tokens (kivi:4 requantized as kivi:2)", "saved 7 tokens (kivi:2)");
    generate("--repack", "--kv=kivi:2", PROMPT).isRefusedWith("expected --session FILE with it");
  }

  @Test
  void aFileThatIsNoSessionIsNotOverwritten() throws IOException {
    Path text = Files.writeString(folder.resolve("text"), "Once upon a time there was a text.");
    generate("--session", text.toString(), "x").isRefusedWith("text: is no session");
    generate("--session", folder.toString(), "x").isRefusedWith("is a folder");
    generate("--session", folder.resolve("no/file").toString(), "x").isRefusedWith("is missing");
    assertThat(text).hasContent("Once upon a time there was a text.");
  }

  @Test
  void withoutASessionAPromptIsNeeded() {
    CommandRun.atTerminal("generate", "--session", folder.resolve("new").toString())
        .isRefusedWith("no prompt was given");
    generate(withSession("")).isRefusedWith("the prompt is empty");
  }
}
