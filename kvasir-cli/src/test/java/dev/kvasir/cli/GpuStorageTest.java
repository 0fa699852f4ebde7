package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is saved or stored with {@code --device}; none of these needs a GPU. */
class GpuStorageTest {
  private static final String PROMPT = "Once";

  @TempDir private Path folder;

  private static CommandRun run(String options, String... more) {
    return CommandRun.withInput(
        PROMPT,
        Stream.concat(Stream.of(options.split(" ")), Stream.of(more)).toArray(String[]::new));
  }

  private String file() {
    return folder.resolve("kept").toString();
  }

  @ParameterizedTest
  @ValueSource(strings = {"patternkv:2", "mixkvq", "commvq:2", "pmkvq:2"})
  void aGpuDoesNotStoreCachesWithTables(String cache) {
    String refusal =
        "the cache '%s' cannot be stored from a GPU; expected fp16, kivi or kvtuner, or --device"
                .formatted(cache)
            + " cpu";
    run("generate --device cuda --kv %s --session".formatted(cache), file()).isRefusedWith(refusal);
    run("chat --device cuda:1 --kv %s --resume tale --dir".formatted(cache), folder.toString())
        .isRefusedWith(refusal);
    assertThat(folder).isEmptyDirectory();
    run("serve --port 0 --device cuda --kv %s --store".formatted(cache), file())
        .isRefusedWith(refusal);
  }

  @Test
  void aGpuStoresNoCacheThatItDoesNotSupport() {
    run("generate --device cuda --kv rotatekv:2 --session", file())
        .isRefusedWith("the cache 'rotatekv:2' is not supported on a device");
    run("generate --device cuda --kv mead:2 --session", file())
        .isRefusedWith("the cache 'mead:2' cannot be stored from a GPU");
  }

  @Test
  void everyCacheOfAServerMustBeStorable() {
    run("serve --port 0 --device cuda --kv fp16 --kv mixkvq --store", file())
        .isRefusedWith("the cache 'mixkvq' cannot be stored from a GPU");
  }

  @Test
  void whatIsSavedStaysOnTheProcessorWithoutAGpuNamed() {
    CommandRun saved =
        run("generate --device auto --kv patternkv:2 -t 0 -n 1 --session", file(), PROMPT);
    assertThat(saved.succeeds().err()).contains("computes on the processor");
    CommandRun resumed = run("generate -t 0 -n 1 --session", file(), PROMPT);
    assertThat(resumed.succeeds().err()).contains("restored", "patternkv:2");
  }

  /** The cache of a saved session decides, not the default of {@code --kv}. */
  @Test
  void theCacheOfASavedSessionMustBeStorable() {
    run("generate --kv patternkv:2 -t 0 -n 1 --session", file(), PROMPT).succeeds();
    run("generate --device cuda --session", file(), PROMPT)
        .isRefusedWith("the cache 'patternkv:2' cannot be stored from a GPU");
  }

  @Test
  void sessionsAreRequantizedOnTheProcessor() {
    run("generate --kv kivi:4 -t 0 -n 1 --session", file(), PROMPT).succeeds();
    run("generate --device cuda --kv kivi:2 --repack --session", file(), PROMPT)
        .isRefusedWith("--device is cuda; with --repack expected cpu");
  }
}
