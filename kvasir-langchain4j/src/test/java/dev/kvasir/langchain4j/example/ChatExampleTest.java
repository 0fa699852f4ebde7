package dev.kvasir.langchain4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** The example of the README. */
@Isolated // the output is the whole process's
class ChatExampleTest {
  private static final Path SOURCE =
      Path.of("src/test/java/dev/kvasir/langchain4j/example/ChatExample.java");

  @Test
  void theReadmeShowsIt() throws IOException {
    String source = Files.readString(SOURCE);
    assertThat(Files.readString(Path.of("../README.md")))
        .contains("```java\n" + source.substring(source.indexOf("import ")) + "```");
  }

  @Test
  void itRuns() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream before = System.out;
    try {
      System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
      ChatExample.main(new String[0]);
    } finally {
      System.setOut(before);
    }
    assertThat(bytes.toString(StandardCharsets.UTF_8)).containsPattern("\\p{L}+");
  }
}
