package dev.kvasir.cli.models;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import kvasir.tools.ShallowModel;
import kvasir.tools.StandInHub;
import kvasir.tools.StandInRepository;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands take models by name, and the cache is listed and emptied. */
class ModelNamesTest {
  private static final String NAME = "hf:owner/tiny-GGUF";

  @TempDir Path folder;
  private StandInHub hub;
  private StandInRepository repository;

  @BeforeEach
  void start() throws IOException {
    hub = new StandInHub();
    repository =
        hub.repository("owner/tiny-GGUF")
            .add("tiny-Q8_0.gguf", new byte[6000])
            .add("tiny-IQ1_S.gguf", new byte[5000]);
    set(Map.of("HF_ENDPOINT", hub.endpoint(), "HF_HUB_CACHE", folder.resolve("cache").toString()));
  }

  private static void set(Map<String, String> variables) {
    variables.forEach((name, value) -> System.setProperty("kvasir." + name, value));
  }

  @AfterEach
  void stop() {
    for (String name : new String[] {"HF_ENDPOINT", "HF_HUB_CACHE", "HF_HUB_OFFLINE"}) {
      System.clearProperty("kvasir." + name);
    }
    hub.close();
  }

  @Test
  void aModelIsDownloadedOnceAndRuns() throws IOException {
    byte[] model = Files.readAllBytes(ShallowModel.write(folder.resolve("model.gguf")));
    hub.repository("owner/tiny-GGUF").add("tiny-Q8_0.gguf", model);
    CommandRun first =
        CommandRun.of(
                "generate", "--model", NAME, "--temperature", "0", "--max-tokens", "4", "Once upon")
            .succeeds();
    assertThat(first.err())
        .contains(NAME + ":Q8_0: ", " to download; its weights take about ", " of memory");
    long requests = hub.seenAtStorage();
    CommandRun second =
        CommandRun.of(
                "generate", "--model", NAME, "--temperature", "0", "--max-tokens", "4", "Once upon")
            .succeeds();
    assertThat(second.out()).isEqualTo(first.out());
    assertThat(second.err()).doesNotContain("download");
    assertThat(hub.seenAtStorage()).isEqualTo(requests);
  }

  @Test
  void modelsArePulledListedAndRemoved() {
    assertThat(CommandRun.of("list").succeeds().err()).contains("no models are in");
    String path = CommandRun.of("pull", NAME).succeeds().out().strip();
    assertThat(Path.of(path)).isRegularFile().hasFileName("tiny-Q8_0.gguf");
    CommandRun.of("pull", NAME + ":iq1_s").succeeds();
    assertThat(CommandRun.of("list").succeeds().out())
        .containsPattern("(?m)^hf:owner/tiny-GGUF:IQ1_S +4\\.9 KiB ")
        .containsPattern("(?m)^hf:owner/tiny-GGUF:Q8_0 ");
    assertThat(CommandRun.of("rm", NAME + ":IQ1_S").succeeds().out())
        .isEqualToIgnoringNewLines("removed hf:owner/tiny-GGUF:IQ1_S, 4.9 KiB");
    assertThat(CommandRun.of("list").out()).doesNotContain("IQ1_S").contains("Q8_0");
    assertThat(folder.resolve("cache/models--owner--tiny-GGUF/blobs"))
        .isDirectoryNotContaining(file -> file.endsWith(repository.hash("tiny-IQ1_S.gguf")));
    CommandRun.of("rm", NAME).succeeds();
    assertThat(folder.resolve("cache/models--owner--tiny-GGUF")).doesNotExist();
    CommandRun.of("rm", NAME).isRefusedWith("is not in the cache", "kvasir list");
  }

  @ParameterizedTest
  @ValueSource(strings = {"generate", "chat", "inspect", "tokenize", "eval", "serve"})
  void namesThatCannotBeFetchedAreOneSentence(String command) {
    refuse(command, "hf:owner", "the model is 'hf:owner'", "expected hf:OWNER/REPO");
    refuse(command, NAME + ":Q2_K", "has no 'Q2_K'; possible are Q8_0, IQ1_S");
    refuse(command, "hf:owner/none", "no such repository, or it is private");
    refuse(command, "owner/tiny-GGUF", "no such file or folder; hf:owner/tiny-GGUF is the name");
    System.setProperty("kvasir.HF_HUB_OFFLINE", "1");
    refuse(command, NAME, "is not in the cache", "HF_HUB_OFFLINE is set");
  }

  private static void refuse(String command, String model, String... parts) {
    CommandRun.withInput("Hello", command, "--model", model).isRefusedWith(parts);
  }
}
