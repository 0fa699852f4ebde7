package dev.kvasir.cli.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kvasir.choice.CacheFigure;
import dev.kvasir.choice.CacheFigures;
import dev.kvasir.choice.UserFolder;
import dev.kvasir.cli.CommandRun;
import dev.kvasir.cli.arguments.ModelArguments;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelComparisonTest {
  @TempDir Path folder;

  @BeforeEach
  void useAnEmptyFolder() {
    System.setProperty(UserFolder.PROPERTY, folder.resolve("home").toString());
  }

  @AfterEach
  void useTheUsersFolder() {
    System.clearProperty(UserFolder.PROPERTY);
  }

  private Path model() throws IOException {
    Path file = folder.resolve("mini.gguf");
    try (InputStream resource =
        ModelComparisonTest.class.getResourceAsStream("/dev/kvasir/mini/kvasir-mini-q8_0.gguf")) {
      Files.copy(resource, file);
    }
    return file;
  }

  @Test
  void figuresOfAModelAreKeptForTheChoiceOfACache() throws IOException {
    String file = model().toString();
    Path page = folder.resolve("page.html");
    CommandRun run =
        CommandRun.of(
                "compare",
                "--model",
                file,
                "--context",
                "400",
                "--kv",
                "kivi:4;kivi:2",
                "--out",
                page.toString())
            .succeeds();
    assertThat(run.out()).contains("kivi:4", "kld");
    assertThat(run.err()).contains("400 tokens take about ", " at the measured ");
    assertThat(page).content().contains("<svg", "kivi:2");

    UserFolder user = UserFolder.ofThisProcess();
    CacheFigures figures = CacheFigures.ofModel(new ModelArguments().fingerprint(), "llama", user);
    assertThat(figures.rows()).extracting(CacheFigure::spec).containsExactly("kivi:4", "kivi:2");
    assertThat(figures.rows())
        .allSatisfy(
            row -> {
              assertThat(row.divergence()).isPositive();
              assertThat(row.speed()).isPresent();
            });
    try (var files = Files.list(user.comparisons())) {
      assertThat(files).as("the journal is deleted").hasSize(1);
    }
    assertThat(
            CommandRun.of("inspect", "--model", file, "--kv", "auto", "--kv-memory", "24MiB")
                .succeeds()
                .out())
        .contains("by 'kvasir compare' on this model");
  }

  @Test
  void optionsAreCheckedBeforeTheModelLoads() throws IOException {
    String file = model().toString();
    for (List<String> wrong :
        List.of(
            List.of("methods"),
            List.of("--part", "1/2"),
            List.of("--frontier", folder.resolve("f.svg").toString()))) {
      refused(file, wrong, "expected neither a table nor --show");
    }
    refused(file, List.of("--context", "20000"), "--context is 20000; expected at most 16384");
    refused(file, List.of("--context", "20"), "--context is 20; expected at least 256");
    refused(file, List.of("--minutes", "0"), "--minutes is 0; expected at least 1");
    refused(
        file,
        List.of("--minutes", "5", "--context", "512"),
        "--minutes is 5 and --context is 512; expected one of them");
    refused(file, List.of("--kv", "kivi:9"), "kivi:9");
    refused(file, List.of("--out", folder.resolve("none/x.html").toString()), "is missing");
    CommandRun.of("compare", "--context", "512")
        .isRefusedWith("--context is for your own model; expected --model FILE with it");
    assertThat(folder.resolve("home")).doesNotExist();
  }

  @Test
  void textsGetShorterUntilTheWorkFits() {
    assertThat(ComparisonSize.all(32_768, false))
        .extracting(ComparisonSize::context, ComparisonSize::samples)
        .containsExactly(tuple(2048, 8), tuple(1536, 8), tuple(1024, 4), tuple(1024, 0));
    assertThat(ComparisonSize.all(32_768, true)).containsExactly(new ComparisonSize(1024, 0));
    assertThat(ComparisonSize.all(512, false)).containsExactly(new ComparisonSize(512, 0));
  }

  private static void refused(String file, List<String> options, String sentence) {
    String[] arguments = new String[3 + options.size()];
    arguments[0] = "compare";
    arguments[1] = "--model";
    arguments[2] = file;
    for (int i = 0; i < options.size(); i++) {
      arguments[3 + i] = options.get(i);
    }
    CommandRun.of(arguments).isRefusedWith(sentence);
  }
}
