package dev.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelFolderTest {
  @TempDir private Path folder;

  private void file(String name) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.createFile(file);
  }

  @Test
  void filesAndFoldersAreModels() throws Exception {
    file("b.gguf");
    file("mmproj-b.gguf");
    file("b.profile");
    file(".hidden.gguf");
    file("split/large-00001-of-00002.gguf");
    file("split/large-00002-of-00002.gguf");
    file("two/x.gguf");
    file("two/y.gguf");
    file("hub/config.json");
    file("hub/model.safetensors");
    file("empty/config.json");
    assertThat(new ModelFolder(folder).models())
        .containsExactly(
            Map.entry("b", folder.resolve("b.gguf")),
            Map.entry("hub", folder.resolve("hub")),
            Map.entry("large", folder.resolve("split/large-00001-of-00002.gguf")));
  }

  @Test
  void aMissingFolderIsReported() {
    assertThatThrownBy(() -> new ModelFolder(folder.resolve("none")).models())
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("none cannot be read; expected a folder with models");
  }

  @Test
  void cachesAreForOneModelOrForAllOthers() {
    CacheKinds kinds =
        CacheKinds.of(List.of("fp16", "a=kivi:2", "a=fp16", "kivi:4,window=64"), Set.of("a", "b"));
    assertThat(kinds.of("a")).containsExactly("kivi:2", "fp16");
    assertThat(kinds.of("b")).containsExactly("fp16", "kivi:4,window=64");
    assertThatThrownBy(() -> CacheKinds.of(List.of("c=kivi:2"), Set.of("a")))
        .hasMessageContaining("the cache 'c=kivi:2'");
  }
}
