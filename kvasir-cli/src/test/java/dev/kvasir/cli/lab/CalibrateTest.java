package dev.kvasir.cli.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cli.CommandRun;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.MethodRegistry;
import dev.kvasir.codec.commvq.CommvqProfile;
import dev.kvasir.lab.calibrator.Calibrator;
import dev.kvasir.lab.calibrator.Calibrators;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.profile.Profile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CalibrateTest {
  private static final String EIGHT_BILLIONS =
      """
      {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
       "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
       "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
       "vocab_size": 128256, "max_position_embeddings": 131072, "rms_norm_eps": 1e-05,
       "rope_theta": 500000.0, "tie_word_embeddings": false}
      """;

  @TempDir private static Path models;
  private static String shallow;

  @TempDir private Path folder;

  @BeforeAll
  static void write() {
    shallow = ShallowModel.write(models.resolve("shallow.gguf")).toString();
  }

  @Test
  void widthsAndFactorsAreSavedInTheProfileAndUsedByCaches() throws Exception {
    Path file = folder.resolve("a.profile");
    CommandRun run = calibrate(file, "pmkvq:2", "3");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("layer    2 bits    4 bits    8 bits  width", "3.00 bits");
    Profile made = Profile.open(file);
    assertThat(made.parts()).containsExactly("layers", "pmkvq");
    assertThat(made.floats("layers/widths", 2)).containsOnly(2, 4);

    // Another budget reuses the gradients of the same samples.
    assertThat(calibrate(file, "pmkvq:2", "4").out()).contains("4.00 bits in the mean");
    assertThat(Profile.open(file).floats("pmkvq/sensitivities", 2, 2, 3))
        .containsExactly(made.floats("pmkvq/sensitivities", 2, 2, 3));

    Path figures = folder.resolve("layers.json");
    run(
            file.toString(),
            "pmkvq:2",
            "--model",
            shallow,
            "--samples",
            "1",
            "--length",
            "160",
            "--json",
            figures.toString())
        .succeeds();
    assertThat(Files.readString(figures)).contains("\"layer 1 at 2 bits\":");

    CommandRun generated =
        CommandRun.of(
            "generate",
            "--model",
            shallow,
            "--kv",
            "pmkvq:2,budget=8MiB",
            "--context",
            "512",
            "--profile",
            file.toString(),
            "--max-tokens",
            "2",
            "Once upon a time");
    assertThat(generated.exitCode()).as(generated.err()).isZero();
  }

  @Test
  void noLayerIsNarrowerThanTheCacheMayBe() {
    Path file = folder.resolve("c.profile");
    calibrate(file, "pmkvq:4", "6").succeeds();
    assertThat(Profile.open(file).floats("layers/widths", 2)).containsOnly(4, 8);
  }

  @Test
  void codebooksAreAddedToTheProfile() throws IOException {
    Path file = folder.resolve("d.profile");
    Path text = Files.writeString(folder.resolve("text"), BundledText.filler().substring(0, 3000));
    CommandRun run = codebooks(file, text);
    run.succeeds();
    assertThat(run.out()).contains("layer  keys: commvq:1  kivi:1  values: commvq:1  kivi:1");
    assertThat(run.out()).hasLineCount(4);
    Profile made = Profile.open(file);
    assertThat(made.parts()).containsExactly("commvq:1");
    assertThat(made.note("commvq:1/training"))
        .hasValueSatisfying(note -> assertThat(note).contains("seed 1"));
    CommvqProfile books = CommvqProfile.of(made, 1, new CacheShape(2, 2, 64));
    assertThat(books.layers().getFirst().keyStages()).isEqualTo(5);
    assertThat(folder).isDirectoryNotContaining("glob:**.{heads,vectors}");
    assertThat(run.err()).contains("reading", "codebooks", "in all", "memory", "disk");
  }

  private CommandRun codebooks(Path file, Path text) {
    return codebooks("commvq:1", file, text);
  }

  private CommandRun codebooks(String spec, Path file, Path text, String... more) {
    List<String> options = new ArrayList<>();
    options.addAll(List.of("--model", shallow, "--text", text.toString()));
    options.addAll(List.of("--length", "128", "--tokens", "256"));
    options.addAll(List.of(more));
    return run(file.toString(), spec, options.toArray(String[]::new));
  }

  @Test
  void encodersOfValuesAreTrainedAndUsed() throws IOException {
    Path file = folder.resolve("f.profile");
    Path text = Files.writeString(folder.resolve("text"), BundledText.filler().substring(0, 3000));
    String spec = "commvq:1,values=encoder";
    CommandRun run = codebooks(spec, file, text, "--encoder-steps", "20", "--encoder-hidden", "16");
    run.succeeds();
    assertThat(run.out()).contains("layer  values: commvq:1,values=encoder").hasLineCount(4);
    assertThat(Profile.open(file).parts()).containsExactly(spec);
    assertThat(folder).isDirectoryNotContaining("glob:**.{heads,vectors}");
    CommandRun.of(
            "generate",
            "--model",
            shallow,
            "--profile",
            file.toString(),
            "--kv",
            spec + ",window=0,sinks=0",
            "--max-tokens",
            "2",
            BundledText.filler().substring(0, 1500))
        .succeeds();
  }

  @Test
  void encodersAreRefusedWithoutTheirPart() {
    CommandRun.of("generate", "--kv", "commvq:2,values=encoder", "Once")
        .isRefusedWith("kvasir calibrate --kv commvq:2,values=encoder --model MODEL");
    run("g.profile", "commvq:1", "--encoder-steps", "5")
        .isRefusedWith("--encoder-steps is an option of 'commvq:1,values=encoder'");
    run("g.profile", "commvq:1", "--import", "nowhere").isRefusedWith("--import is for");
    run("g.profile", "commvq:1,values=encoder", "--import", folder.resolve("no").toString())
        .isRefusedWith("no such folder");
  }

  @Test
  void aConfigurationAloneTellsWhatCalibrationWouldTake() throws IOException {
    Files.writeString(folder.resolve("config.json"), EIGHT_BILLIONS);
    String[] arguments = {"--model", folder.toString(), "--forecast", "--speed", "1000"};
    CommandRun books = forecast("commvq:1", arguments);
    assertThat(books.out())
        .contains("of 384 heads and groups", "disk", "GiB", "reading 1000.0, training 150.0");
    assertThat(forecast("pmkvq:2", arguments).out()).contains("of 8 samples of 2048 tokens");
    CommandRun mead = forecast("mead", arguments);
    assertThat(mead.out()).contains("12 texts", "of 4 texts, backward", "in all", "on 64");
    assertThat(heapGibibytes(mead.out())).isLessThan(8);
    forecast("mead", "--speed", "0").isRefusedWith("--speed is 0.0");
  }

  private static double heapGibibytes(String forecast) {
    Matcher heap = Pattern.compile("memory +([0-9.]+) GiB of heap").matcher(forecast);
    assertThat(heap.find()).as(forecast).isTrue();
    return Double.parseDouble(heap.group(1));
  }

  private static CommandRun forecast(String spec, String... more) {
    List<String> arguments = new ArrayList<>(List.of("calibrate", "--kv", spec));
    arguments.addAll(List.of(more));
    return CommandRun.of(arguments.toArray(String[]::new));
  }

  @Test
  void everyMethodThatSaysSoCanBeCalibrated() {
    assertThat(CalibratedCache.possible())
        .extracting(CalibratedCache::toString)
        .contains("pmkvq:2", "pmkvq:8", "commvq:1", "commvq:4", "mead")
        .doesNotContain("mixkvq");
    assertThat(CalibratedCache.possible())
        .allSatisfy(
            kind -> {
              assertThat(MethodRegistry.all())
                  .filteredOn(method -> method.names().contains(kind.method()))
                  .allSatisfy(method -> assertThat(method.calibration()).isPresent());
              assertThat(Calibrators.of(kind.method())).isPresent();
            });
    assertThat(Calibrators.all())
        .extracting(Calibrator::method)
        .doesNotHaveDuplicates()
        .isSubsetOf(CalibratedCache.possible().map(CalibratedCache::method).toList());
  }

  /** One calibration of mead serves all widths, so its spec may state one. */
  @Test
  void aWidthThatDoesNotMatterMayBeTyped() {
    assertThat(CalibratedCache.parse("mead")).isEqualTo(new CalibratedCache("mead", 0, ""));
    assertThat(CalibratedCache.parse("mead:1.5")).isEqualTo(new CalibratedCache("mead", 0, ""));
    assertThat(CalibratedCache.parse("vqllm:2")).isEqualTo(new CalibratedCache("vqllm", 0, ""));
    for (String wrong : List.of("mead:many", "mead:2,sinks=4", "meadow")) {
      assertThatThrownBy(() -> CalibratedCache.parse(wrong)).hasMessageContaining(wrong);
    }
  }

  @Test
  void whatCannotBeDoneIsRefusedBeforeTheModelLoads() {
    String file = folder.resolve("b.profile").toString();
    CommandRun.of("calibrate", "--kv", "pmkvq:2").isRefusedWith("--out");
    CommandRun.of("calibrate", "--out", file).isRefusedWith("--kv");
    run(file, "kivi:2").isRefusedWith("--kv is 'kivi:2'", "pmkvq:BITS", "commvq:BITS");
    run(file, "mead:9").isRefusedWith("--kv is 'mead:9'", ", mead");
    run(file, "mead", "--texts", "3").isRefusedWith("--texts is 3", "8");
    run(file, "mead", "--texts", "0", "--tasks", "3").isRefusedWith("--tasks is 3", "8");
    run(file, "mead", "--tables", "tokens,rows").isRefusedWith("--tables is 'rows'", "centroids");
    run(file, "pmkvq:2", "--tasks", "3").isRefusedWith("--tasks is an option of mead");
    run(file, "pmkvq:3").isRefusedWith("--kv is 'pmkvq:3'", "[2, 4, 8]");
    run(file, "pmkvq:2,sinks=4").isRefusedWith("--kv is 'pmkvq:2,sinks=4'");
    run(file, "pmkvq:2", "--bits", "1").isRefusedWith("--bits is 1.0", "2 to 8");
    run(file, "pmkvq:4", "--bits", "3").isRefusedWith("--bits is 3.0", "4 to 8");
    run(file, "pmkvq:2", "--length", "100").isRefusedWith("--length is 100", "130");
    run(file, "pmkvq:2", "--position-scale", "0").isRefusedWith("--position-scale is 0.0");
    run(file, "commvq:5").isRefusedWith("--kv is 'commvq:5'", "[1, 2, 3, 4]");
    run(file, "commvq:1", "--tokens", "100").isRefusedWith("--tokens is 100", "256 to 1048576");
    run(file, "commvq:1", "--set-rows", "48").isRefusedWith("--set-rows is 48", "[16, 32, 64]");
    run(file, "commvq:1", "--value-heads", "3").isRefusedWith("--value-heads is 3", "divisor of 2");
    run(file, "commvq:1", "--pairs", "24").isRefusedWith("--pairs is 24", "divisor of 32");
    run(file, "commvq:1", "--length", "100").isRefusedWith("--length is 100", "128");
    run(file, "mead", "--json", "x").isRefusedWith("--json is an option of pmkvq");
    run(file, "pmkvq:2", "--tokens", "300").isRefusedWith("--tokens is an option of commvq");
    run(file, "commvq:1", "--bits", "3")
        .isRefusedWith("--bits is an option of pmkvq; --kv is 'commvq:1'");
    run(file, "oscar", "--forecast").isRefusedWith("--kv is 'oscar'; --forecast is for pmkvq");
    run(file, "vqllm", "--speed", "9").isRefusedWith("--kv is 'vqllm'; --speed is for pmkvq");
    run(file, "oscar", "--on", "local[2]").isRefusedWith("--kv is 'oscar'; --on is for pmkvq");
    run(file, "vqllm", "--ship").isRefusedWith("--kv is 'vqllm'; --ship is for pmkvq");
  }

  private static CommandRun run(String file, String spec, String... more) {
    List<String> arguments = new ArrayList<>(List.of("calibrate", "--kv", spec, "--out", file));
    arguments.addAll(List.of(more));
    return CommandRun.of(arguments.toArray(String[]::new));
  }

  private static CommandRun calibrate(Path file, String spec, String bits) {
    return run(
        file.toString(),
        spec,
        "--model",
        shallow,
        "--samples",
        "1",
        "--length",
        "160",
        "--bits",
        bits);
  }
}
