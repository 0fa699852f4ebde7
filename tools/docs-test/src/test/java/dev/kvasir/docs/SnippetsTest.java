package dev.kvasir.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Java code of the documentation compiles. */
class SnippetsTest {
  @TempDir private Path classes;

  @Test
  void everySnippetCompiles() throws IOException {
    List<String> violations = new ArrayList<>();
    try (StandardJavaFileManager files =
        ToolProvider.getSystemJavaCompiler()
            .getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
      files.setLocationFromPaths(StandardLocation.CLASS_OUTPUT, List.of(classes));
      for (MarkdownPage page : Pages.all()) {
        for (CodeBlock block : page.blocks()) {
          if (block.language().equals("java") && !block.isIgnored()) {
            new JavaSnippet(block)
                .errors(files, System.getProperty("java.class.path"))
                .forEach(error -> violations.add(page.violation(error.line(), error.message())));
          }
        }
      }
    }
    assertThat(violations).isEmpty();
  }
}
