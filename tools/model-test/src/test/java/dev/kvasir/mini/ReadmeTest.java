package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The README example compiles as printed and generates text. */
class ReadmeTest {
  private static final Pattern EXAMPLE =
      Pattern.compile("```java\\n(.*?public class Example .*?)```", Pattern.DOTALL);

  @TempDir private Path folder;

  @Test
  void theExampleRuns() throws Exception {
    Matcher matcher = EXAMPLE.matcher(Files.readString(Path.of("../../README.md")));
    assertThat(matcher.find()).isTrue();
    Path source = folder.resolve("Example.java");
    Files.writeString(source, matcher.group(1));
    int failed =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-d",
                folder.toString(),
                "-cp",
                System.getProperty("java.class.path"),
                source.toString());
    assertThat(failed).isZero();
    // The text is random and may end soon.
    assertThat(outputOfExample()).containsPattern("\\p{L}+");
  }

  private String outputOfExample() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream before = System.out;
    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
      System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
      loader
          .loadClass("Example")
          .getMethod("main", String[].class)
          .invoke(null, (Object) new String[0]);
    } finally {
      System.setOut(before);
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
