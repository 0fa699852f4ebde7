package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Invalid server options are reported before anything is loaded. */
class ServeTest {
  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--port 99999 | --port is 99999; expected 0 to 65535",
        "--host 0.0.0.0 | --host 0.0.0.0 lets other machines ask; expected --api-key-file FILE, or --insecure",
        "--kv-memory 5 | --kv-memory is '5'; expected bytes, as in 512MiB or 2GiB",
        "--max-body 4GiB | --max-body is 4GiB; expected at most 1GiB",
        "--max-sequences 0 | --max-sequences is 0; expected 1 to 4096",
        "--tool-format xml | --tool-format: the tool format is 'xml'; expected one of hermes, qwen3",
        "--store http://10.0.0.7 | the store is 'http://10.0.0.7'; expected DIR, DIR,50GiB, redis://HOST:PORT",
        "--store kept,50 | the budget of the store kept is '50'; expected bytes, as in 512MiB or 2GiB",
        "--store redis://me:secret@ | the store 'redis://***@' is no address; expected redis://",
        "--memory 5GiB | --memory is 5GiB; expected several models, or --kv-memory for the KV caches",
        "--models-dir none | --models-dir: none cannot be read; expected a folder with models",
        "--models-dir . --memory 5 | --memory is '5'; expected bytes, as in 512MiB or 2GiB",
        "--models-dir . --tool-format hermes | --tool-format is of one model; expected one --model",
        "--kv fp17 | the cache 'fp17': the method 'fp17' is unknown;",
      })
  void optionsAreChecked(String options, String sentence) {
    CommandRun run = CommandRun.of(("serve " + options).split(" "));
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains(sentence);
  }

  @Test
  void aStoreThatCannotBeWrittenIsRefused() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "in the way");
    CommandRun run = CommandRun.of("serve", "--store", file.toString());
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .contains("the store %s cannot be written; expected a folder".formatted(file));
  }

  @Test
  void keysAreLongEnoughToBeOnes() throws Exception {
    Path keys = folder.resolve("keys");
    Files.writeString(keys, "# none yet\n\n");
    assertThat(err(keys)).contains("holds no key; expected one a line");
    Files.writeString(keys, "short\n");
    assertThat(err(keys)).contains("a key has 5 characters; expected at least 8");
  }

  private static String err(Path keys) {
    return CommandRun.of("serve", "--api-key-file", keys.toString()).err();
  }
}
