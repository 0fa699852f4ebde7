package dev.kvasir.choice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CacheFiguresTest {
  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"qwen2", "llama", "gemma3"})
  void builtInFiguresNameCachesThatExist(String family) {
    assertThat(CacheFigures.builtIn("", family).rows())
        .hasSizeGreaterThan(4)
        .allSatisfy(row -> assertThat(CacheSpec.parse(row.spec())).isNotNull());
  }

  @Test
  void aFamilyWithoutFiguresHasThoseOfAnother() {
    assertThat(CacheFigures.builtIn("", "phi3")).isEqualTo(CacheFigures.builtIn("", "qwen2"));
    assertThat(CacheFigures.builtIn("", "llama")).isNotEqualTo(CacheFigures.builtIn("", "qwen2"));
  }

  @Test
  void aMeasuredModelHasItsOwn() throws IOException {
    UserFolder user = new UserFolder(folder);
    assertThat(CacheFigures.ofModel("abc", "qwen2", user))
        .isEqualTo(CacheFigures.builtIn("abc", "qwen2"));
    Files.createDirectories(user.comparisons());
    Files.writeString(
        user.figures("abc"),
        """
        {"source": "a run", "other": 1, "rows": [
          {"spec": "kivi:4", "divergence": 0.5, "speed": 1.5}, {"spec": "kivi:2", "divergence": 1}]}
        """);
    CacheFigures found = CacheFigures.ofModel("abc", "qwen2", user);
    assertThat(found.source()).isEqualTo("a run");
    assertThat(found.rows()).extracting(CacheFigure::spec).containsExactly("kivi:4", "kivi:2");
    assertThat(found.rows().getFirst().speed()).hasValue(1.5);
    assertThat(found.rows().getLast().speed()).isEmpty();
  }

  @Test
  void aDamagedFileIsNamed() throws IOException {
    UserFolder user = new UserFolder(folder);
    Files.createDirectories(user.comparisons());
    for (String json : new String[] {"{", "{}", "{\"source\": \"x\", \"rows\": [{}]}", "[]"}) {
      Files.writeString(user.figures("abc"), json);
      assertThatThrownBy(() -> CacheFigures.ofModel("abc", "qwen2", user))
          .hasMessageContaining("abc.json");
    }
  }

  @Test
  void theFolderFollowsTheEnvironment() {
    Path home = Path.of("/home/me");
    assertThat(UserFolder.of(Map.of(), home).comparisons())
        .isEqualTo(home.resolve(".local/share/kvasir/compare"));
    assertThat(UserFolder.of(Map.of("KVASIR_HOME", "/k"), home).figures("f"))
        .isEqualTo(Path.of("/k/compare/f.json"));
  }
}
