package dev.kvasir.cli.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SessionFolderTest {
  private static final Path HOME = Path.of("/home/ada");

  @TempDir Path folder;

  @Test
  void theEnvironmentDeterminesTheSessionFolder() {
    assertThat(SessionFolder.defaultPath(Map.of("KVASIR_HOME", "/k", "XDG_DATA_HOME", "/x"), HOME))
        .isEqualTo(Path.of("/k/sessions"));
    assertThat(SessionFolder.defaultPath(Map.of("KVASIR_HOME", "", "XDG_DATA_HOME", "/x"), HOME))
        .isEqualTo(Path.of("/x/kvasir/sessions"));
    assertThat(SessionFolder.defaultPath(Map.of("XDG_DATA_HOME", "x"), HOME))
        .isEqualTo(Path.of("/home/ada/.local/share/kvasir/sessions"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "../x", "a/b", "/a", ".hidden", "-x", "a b", "a\\b", "ä"})
  void namesThatCouldLeadElsewhereAreRefused(String name) {
    assertThatThrownBy(() -> new SessionName(name))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("'%s'".formatted(name));
  }

  @Test
  void namesHaveAtMostSixtyFourCharacters() {
    assertThat(new SessionName("a".repeat(64)).text()).hasSize(64);
    assertThatThrownBy(() -> new SessionName("a".repeat(65)))
        .isInstanceOf(InvalidInputException.class);
  }

  @Test
  void aNameGoesBeforeAFileAndStrangersInTheFolderAreNotSessions() throws IOException {
    SessionFolder sessions = new SessionFolder(folder);
    assertThat(new SessionFolder(folder.resolve("none")).all()).isEmpty();
    Path file = Files.writeString(folder.resolve("tale.session"), "");
    for (String stranger : new String[] {".tale.session.7.part", "notes.txt", ".x.session"}) {
      Files.writeString(folder.resolve(stranger), "");
    }
    assertThat(sessions.all()).extracting(SessionEntry::name).containsExactly("tale");
    assertThat(sessions.find("tale").file()).isEqualTo(file);
    assertThat(sessions.find(file.toString()).messages()).isEqualTo(folder.resolve("tale.json"));
    assertThatThrownBy(() -> sessions.find("nobody")).hasMessageContaining("neither a session in");
  }
}
