package dev.kvasir.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which blocks compile, and where their errors are. */
class JavaSnippetTest {
  @TempDir private Path classes;

  @Test
  void statementsTypesAndImportsCompile() throws IOException {
    assertThat(errors(List.of(), "List<Path> files = List.of();", "...")).isEmpty();
    assertThat(errors(List.of(), "import java.net.http.*;", "HttpClient.newHttpClient();"))
        .isEmpty();
    assertThat(errors(List.of("given Model model"), "model.close();")).isEmpty();
    assertThat(errors(List.of(), "public class Example {", "  Model model;", "}")).isEmpty();
  }

  @Test
  void errorsHaveTheirLineOfThePage() throws IOException {
    assertThat(errors(List.of(), "int x = 1;", "x.none();", "int y = 2;"))
        .extracting(JavaSnippet.Error::line)
        .containsExactly(11);
  }

  private List<JavaSnippet.Error> errors(List<String> remarks, String... lines) throws IOException {
    try (StandardJavaFileManager files =
        ToolProvider.getSystemJavaCompiler()
            .getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
      files.setLocationFromPaths(StandardLocation.CLASS_OUTPUT, List.of(classes));
      CodeBlock block = new CodeBlock(10, "java", List.of(lines), remarks);
      return new JavaSnippet(block).errors(files, System.getProperty("java.class.path"));
    }
  }
}
