package dev.kvasir.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.cli.CommandRun;
import dev.kvasir.format.NpyFile;
import dev.kvasir.format.NpyWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RoundtripTest {
  @TempDir Path folder;
  private Path keys;
  private Path values;
  private Path queries;
  private Path out;

  @BeforeEach
  void writeArrays() {
    keys = array("k.npy", 2, 300, 16);
    values = array("v.npy", 2, 300, 16);
    queries = array("q.npy", 4, 10, 16);
    out = folder.resolve("back");
  }

  private Path array(String name, int... shape) {
    Random random = new Random(name.hashCode());
    float[] numbers = new float[Arrays.stream(shape).reduce(1, (a, b) -> a * b)];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = (float) random.nextGaussian();
    }
    Path file = folder.resolve(name);
    long[] sizes = Arrays.stream(shape).asLongStream().toArray();
    try (NpyWriter writer = NpyWriter.create(file, sizes)) {
      writer.write(0, numbers, 0, numbers.length);
      writer.finish();
    }
    return file;
  }

  private CommandRun roundtrip(String spec, String... more) {
    List<String> all = new ArrayList<>(List.of("roundtrip", "--kv", spec));
    all.addAll(List.of("--keys", keys.toString(), "--values", values.toString()));
    all.addAll(List.of("--out", out.toString()));
    all.addAll(List.of(more));
    return CommandRun.of(all.toArray(String[]::new));
  }

  private CommandRun withQueries(String spec, String... more) {
    List<String> all = new ArrayList<>(List.of("--queries", queries.toString()));
    all.addAll(List.of(more));
    return roundtrip(spec, all.toArray(String[]::new));
  }

  private static JsonObject json(CommandRun run) {
    assertThat(run.succeeds().out()).hasLineCount(1);
    assertThat(run.err()).isEmpty();
    return JsonParser.parseString(run.out()).getAsJsonObject();
  }

  @Test
  void theSheetShowsBytesAndErrors() {
    assertThat(withQueries("kivi:4").succeeds().out())
        .containsPattern("cache +kivi:4")
        .contains("300 tokens in 2 heads of 16 channels")
        .containsPattern("size +\\d+\\.\\d\\d bits per value")
        .containsPattern("  codes +4,096 bytes")
        .containsPattern("  total +\\S+ bytes")
        .containsPattern("key error +0\\.0\\d+")
        .containsPattern("output error +0\\.\\d+");
    assertThat(roundtrip("kivi:4").succeeds().out()).doesNotContain("output error");
  }

  @Test
  void jsonIsOneObjectWithEveryFigure() {
    JsonObject figures = json(withQueries("kivi:2", "--prefill", "100", "--attend", "3", "--json"));
    assertThat(figures.keySet())
        .containsExactly("bitsPerValue", "bytes", "keyError", "valueError", "outputError");
    JsonObject bytes = figures.getAsJsonObject("bytes");
    assertThat(bytes.keySet())
        .containsExactly("codes", "scales", "window", "sinks", "tables", "total");
    long total = bytes.get("total").getAsLong();
    assertThat(figures.get("bitsPerValue").getAsDouble()).isEqualTo(8.0 * total / (300 * 64));
    assertThat(figures.get("keyError").getAsDouble()).isBetween(0.01, 0.5);
    assertThat(json(roundtrip("kivi:2", "--json")).has("outputError")).isFalse();
  }

  @Test
  void theFolderGetsTheArrays() {
    withQueries("fp16", "--attend", "3").succeeds();
    assertThat(out.toFile().list())
        .containsExactlyInAnyOrder("keys.npy", "values.npy", "output.npy");
    try (NpyFile output = NpyFile.open(out.resolve("output.npy"));
        NpyFile back = NpyFile.open(out.resolve("keys.npy"))) {
      assertThat(output.tensor().shape()).containsExactly(4, 3, 16);
      assertThat(back.tensor().shape()).containsExactly(2, 300, 16);
    }
  }

  @Test
  void theRotationIsAcceptedAndChecked() {
    roundtrip("kivi:2", "--rope-theta", "1e6", "--rope", "interleaved").succeeds();
    roundtrip("kivi:2", "--rope-theta", "0").isRefusedWith("rope-theta is 0.0; expected");
    roundtrip("kivi:2", "--rope-theta", "NaN").isRefusedWith("rope-theta is NaN; expected");
    roundtrip("kivi:2", "--rope-theta", "many")
        .isRefusedWith("--rope-theta is 'many'; expected a number");
    roundtrip("kivi:2", "--rope", "full").isRefusedWith("--rope is 'full'", "interleaved");
  }

  @Test
  void badOptionsAreRefused() {
    CommandRun.of("roundtrip").isRefusedWith("--kv", "--keys", "--values", "--out");
    roundtrip("kivi:5").isRefusedWith("bits is 5; possible are");
    roundtrip("tape").isRefusedWith("'tape' is unknown");
    withQueries("fp16", "--attend", "0").isRefusedWith("attend is 0; expected at least 1");
    roundtrip("fp16", "--prefill", "-1").isRefusedWith("prefill is -1; expected 0 or more");
    roundtrip("fp16", "--prefill", "301").isRefusedWith("prefill is 301; expected at most 300");
    assertThat(out).doesNotExist();
  }

  @Test
  void badFilesAreRefused() throws IOException {
    queries = folder.resolve("none.npy");
    withQueries("fp16").isRefusedWith("none.npy: no such file");
    queries = folder;
    withQueries("fp16").isRefusedWith("is a folder");
    queries = array("channels.npy", 4, 10, 8);
    withQueries("fp16").isRefusedWith("channels.npy: has shape 4 x 10 x 8; expected 16 channels");
    queries = array("heads.npy", 3, 10, 16);
    withQueries("fp16").isRefusedWith("a multiple of the 2 heads");
    values = array("batch.npy", 1, 2, 300, 16);
    roundtrip("fp16").isRefusedWith("batch.npy: has shape 1 x 2 x 300 x 16", "array[0]");
    values = array("short.npy", 2, 299, 16);
    roundtrip("fp16").isRefusedWith("short.npy: has shape 2 x 299 x 16; expected 2 x 300 x 16");
    values = edited(keys, "'<f4'", "'<f8'");
    roundtrip("fp16").isRefusedWith("its dtype is '<f8'; expected '<f4'");
    values = edited(keys, "'<f4'", "'>f4'");
    roundtrip("fp16").isRefusedWith("its dtype is '>f4'; expected '<f4'");
    values = edited(keys, "False", "True ");
    roundtrip("fp16").isRefusedWith("fortran_order is True");
    values = edited(keys, "2, 300", "2, 301");
    roundtrip("fp16").isRefusedWith("truncated");
    values = Files.writeString(folder.resolve("notes.txt"), "some notes");
    roundtrip("fp16").isRefusedWith("notes.txt: does not begin with 93 'NUMPY'");
    assertThat(out).doesNotExist();
  }

  @Test
  void headsThatAMethodCannotQuantizeAreRefused() {
    keys = array("odd.npy", 1, 20, 6);
    values = keys;
    roundtrip("fp16").succeeds();
    roundtrip("kivi:2").isRefusedWith("heads of 6 channels; expected a multiple of 4");
  }

  @Test
  void theFolderMustBeOneAndNotThatOfTheInput() throws IOException {
    Path input = keys;
    out = input;
    roundtrip("fp16").isRefusedWith("k.npy: is a file; a folder was expected");
    keys = Files.move(input, folder.resolve("keys.npy"));
    out = folder;
    roundtrip("fp16").isRefusedWith("would overwrite the input");
  }

  /** Returns a copy with another text in its header. */
  private Path edited(Path file, String before, String after) throws IOException {
    String text = Files.readString(file, StandardCharsets.ISO_8859_1);
    String changed = text.replaceFirst(before, after);
    assertThat(changed).isNotEqualTo(text);
    return Files.writeString(folder.resolve("edited.npy"), changed, StandardCharsets.ISO_8859_1);
  }
}
