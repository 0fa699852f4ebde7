package dev.kvasir.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GenerateTest {
  private static final String PROMPT = "Once upon a time";

  @TempDir Path folder;

  @Test
  void theLikeliestTextIsTheSameEachTimeWithALineAboutItsSpeed() {
    CommandRun first = generate("--temperature=0", "--max-tokens=8", PROMPT);
    CommandRun second = generate("-t", "0", "-n", "8", PROMPT);
    assertThat(first.out()).isNotBlank().endsWith("\n").isEqualTo(second.out());
    assertThat(first.err())
        .matches(
            "prompt \\d+ tokens at .+/s, generated 8 tokens at .+/s,"
                + " KV cache 512.0 KiB \\(fp16\\), stopped at --max-tokens\\R");
  }

  @Test
  void aTextIsMadeWithASeedThatIsShownAndGivesItAgain() {
    CommandRun first = generate("--max-tokens=40", PROMPT);
    Matcher seed = Pattern.compile(", seed (\\d+), stopped").matcher(first.err());
    assertThat(seed.find()).as(first.err()).isTrue();
    CommandRun again = generate("--max-tokens=40", "--seed", seed.group(1), PROMPT);
    assertThat(again.out()).isEqualTo(first.out());
    CommandRun spelledOut =
        generate(
            "--max-tokens=40",
            "--temperature=0.9",
            "--min-p=0.05",
            "--top-k=0",
            "--top-p=1",
            "--seed=" + seed.group(1),
            PROMPT);
    assertThat(spelledOut.out()).isEqualTo(first.out());
  }

  /** Three identical texts of 40 tokens would be very unlikely. */
  @Test
  void withoutASeedTextsDiffer() {
    assertThat(Stream.generate(() -> generate("--max-tokens=40", PROMPT).out()).limit(3).distinct())
        .hasSizeGreaterThan(1);
  }

  @Test
  void theSameSeedPicksTheSameTokens() {
    String[] arguments = {"--max-tokens=12", "--temperature=1.2", "--top-k=50", "--seed=7", PROMPT};
    CommandRun first = generate(arguments);
    assertThat(first.out()).isEqualTo(generate(arguments).out());
    assertThat(first.err()).contains("seed 7").doesNotContain("note:");
  }

  @Test
  void pipedTextAndAFileArePromptsWithoutTheirLastLineBreak() throws IOException {
    String[] start = {"generate", "--temperature=0", "--max-tokens=4"};
    String typed = generate("--temperature=0", "--max-tokens=4", PROMPT).out();
    Path file = Files.writeString(folder.resolve("prompt.txt"), PROMPT + "\r\n");
    assertThat(CommandRun.withInput(PROMPT + "\n", start).out()).isEqualTo(typed);
    assertThat(CommandRun.withInput(PROMPT, start[0], start[1], start[2], "-").out())
        .isEqualTo(typed);
    assertThat(generate("-t=0", "-n=4", "--prompt-file", file.toString()).out()).isEqualTo(typed);
  }

  /** A page has 128 tokens, and as many stay in the residual window; bits include all overhead. */
  @Test
  void bitsPerValueAreShownOnceMostTokensAreQuantized() {
    assertThat(cacheAfter("fp16", 600)).matches("\\d.\\d MiB \\(fp16\\)");
    assertThat(cacheAfter("kivi:2", 100)).isEqualTo("512.0 KiB (kivi:2, nothing quantized yet)");
    assertThat(cacheAfter("kivi:2", 300)).endsWith("(kivi:2, 128 of 300 tokens quantized)");
    assertThat(cacheAfter("kivi:2", 600)).matches(".*\\(kivi:2, \\d\\.\\d\\d bits per value\\)");
  }

  /** Returns the cache summary for a text of {@code tokens} tokens. */
  private static String cacheAfter(String kind, int tokens) {
    // A word with its leading space is a token; the last generated token is not in the cache.
    CommandRun run = generate("--kv", kind, "-t=0", "-n=1", " time".repeat(tokens));
    assertThat(run.err()).startsWith("prompt %d tokens".formatted(tokens));
    return run.err().replaceAll("(?s).*KV cache (.*?\\)).*", "$1");
  }

  @Test
  void optionsThatDoNothingWithTheLikeliestTokenAreNamed() {
    assertThat(generate("--temperature=0", "-n=1", "--seed=3", "--top-k=5", PROMPT).err())
        .startsWith("note: --temperature 0 leaves nothing to do for --top-k, --seed\n");
    assertThat(generate("--temperature=0", "-n=1", PROMPT).err()).doesNotContain("note:");
    assertThat(generate("-n=1", "--seed=3", "--top-k=5", PROMPT).err()).doesNotContain("note:");
  }

  @Test
  void theDeviceIsSelectedAndShown() {
    CommandRun.of("generate", "--device=gpu", PROMPT)
        .isRefusedWith("--device is 'gpu'; possible are cpu, cuda, auto");
    assertThat(generate("--device=auto", "--kv=patternkv:2", "-t=0", "-n=1", PROMPT).err())
        .contains("computes on the processor"); // also with a GPU, which does not support this
  }

  private static CommandRun generate(String... arguments) {
    return CommandRun.of(
            Stream.concat(Stream.of("generate"), Stream.of(arguments)).toArray(String[]::new))
        .succeeds();
  }

  @Test
  void aPromptIsNeeded() {
    CommandRun.atTerminal("generate")
        .isRefusedWith("no prompt was given", "kvasir generate \"Once");
    CommandRun.of("generate", "").isRefusedWith("the prompt is empty");
    CommandRun.withInput("\n", "generate").isRefusedWith("the prompt is empty");
  }

  @Test
  void onePromptIsEnough() throws IOException {
    Path file = Files.writeString(folder.resolve("prompt.txt"), PROMPT);
    CommandRun.of("generate", "--prompt-file", file.toString(), PROMPT)
        .isRefusedWith("both a prompt and --prompt-file", "expected one");
    CommandRun.of("generate", "Once", "upon", "a", "time").isRefusedWith("'upon'", "in quotes");
  }

  @Test
  void promptFilesThatCannotBeReadAreNamed() throws IOException {
    Path binary = Files.write(folder.resolve("binary"), new byte[] {(byte) 0xff, 0});
    CommandRun.of("generate", "--prompt-file", folder.resolve("none").toString())
        .isRefusedWith("none: no such file");
    CommandRun.of("generate", "--prompt-file", folder.toString()).isRefusedWith("is a folder");
    CommandRun.of("generate", "--prompt-file", binary.toString()).isRefusedWith("UTF-8");
  }

  @Test
  void aPromptLongerThanTheContextIsRefused() {
    CommandRun.of("generate", "--context=16", "one two three ".repeat(10))
        .isRefusedWith("the prompt has", "room for 15");
  }

  @Test
  void badOptionValuesNameTheirBounds() {
    CommandRun.of("generate", "--max-tokens=0", PROMPT)
        .isRefusedWith("max-tokens is 0", "at least 1");
    CommandRun.of("generate", "--max-tokens=many", PROMPT)
        .isRefusedWith("--max-tokens is 'many'", "a whole number");
    CommandRun.of("generate", "--temperature=-1", PROMPT).isRefusedWith("temperature is -1.0");
    CommandRun.of("generate", "--temperature=hot", PROMPT).isRefusedWith("is 'hot'", "a number");
    CommandRun.of("generate", "--top-p=2", PROMPT).isRefusedWith("top-p is 2.0", "at most 1");
    CommandRun.of("generate", "--min-p=NaN", PROMPT).isRefusedWith("min-p is NaN");
    CommandRun.of("generate", "--repeat-penalty=0", PROMPT)
        .isRefusedWith("repetition penalty is 0.0");
    CommandRun.of("generate", "--threads=0", PROMPT).isRefusedWith("--threads is 0", "at least 1");
    CommandRun.of("generate", "--context=0", PROMPT).isRefusedWith("--context is 0", "at least 1");
    CommandRun.of("generate", "--kv=q4", PROMPT).isRefusedWith("'q4' is unknown", "fp16");
  }
}
