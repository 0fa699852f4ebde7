package dev.kvasir.lab.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.work.TaskInput.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TaskInputTest {
  @TempDir private Path folder;
  private Path here;
  private Path there;

  @BeforeEach
  void makeFolders() throws IOException {
    here = Files.createDirectory(folder.resolve("here"));
    there = Files.createDirectory(folder.resolve("there"));
  }

  private static Path write(Path folder, String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  @Test
  void fileIsIdentifiedByItsContent() throws IOException {
    TaskInput text = TaskInput.of(Role.FILE, write(here, "text", "the same"));
    assertThatNoException()
        .isThrownBy(() -> text.verifyAt(write(there, "text", "the same"), "host-7"));
    assertRejected(
        text, write(there, "text", "not the same"), "text: is another file on host-7; put");
    assertRejected(text, folder.resolve("text"), "text: is not there on host-7; put");
  }

  @Test
  void splitModelIncludesAllItsFiles() throws IOException {
    Path first = write(here, "large-00001-of-00002.gguf", "a");
    write(here, "large-00002-of-00002.gguf", "b");
    write(here, "other.gguf", "c");
    write(here, "large-00001-of-00003.gguf", "d");
    write(here, "large-00001-of-00002.gguf.part", "e");
    write(here, "large-vision.gguf", "f");
    TaskInput model = TaskInput.of(Role.MODEL, first);
    assertThat(model.files())
        .containsOnlyKeys("large-00001-of-00002.gguf", "large-00002-of-00002.gguf");
    Path copy = write(there, "large-00001-of-00002.gguf", "a");
    assertRejected(model, copy, "large-00002-of-00002.gguf: is not there on host-7");
  }

  @Test
  void folderIncludesAllItsFiles() throws IOException {
    write(here, "config.json", "{}");
    write(here, "model.safetensors", "a");
    TaskInput model = TaskInput.of(Role.MODEL, here);
    write(there, "config.json", "{}");
    write(there, "model.safetensors", "b");
    assertRejected(model, there, "model.safetensors: is another file on host-7");
  }

  private static void assertRejected(TaskInput input, Path place, String part) {
    assertThatThrownBy(() -> input.verifyAt(place, "host-7"))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining(part);
  }
}
