package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonFileTest {
  @TempDir Path folder;

  @Test
  void membersAreReadByNameAndType() {
    JsonFile json =
        parse("{'s': 'text', 'n': 3, 'x': 1e-5, 'b': true, 'a': [1], 'o': {'n': 4}, 'null': null}");
    assertThat(json.string("s")).contains("text");
    assertThat(json.integer("n")).hasValue(3);
    assertThat(json.number("n")).contains(3.0);
    assertThat(json.number("x")).contains(1e-5);
    assertThat(json.bool("b")).contains(true);
    assertThat(json.array("a").orElseThrow()).hasSize(1);
    assertThat(json.object("o").orElseThrow().requireInteger("n")).isEqualTo(4);
    assertThat(json.has("s")).isTrue();
    assertThat(json.root().keySet()).hasSize(7);
  }

  /** As in the configurations of hybrid models. */
  @Test
  void numbersThatOnlyPythonWritesAreTextsInFiles() throws IOException {
    Path file = folder.resolve("config.json");
    Files.writeString(file, "{\"a\": [0.0, Infinity, -Infinity, NaN], \"NaN \\\" Infinity\": -1}");
    JsonFile json = JsonFile.read(file);
    assertThat(json.array("a").orElseThrow())
        .hasToString("[0.0,\"Infinity\",\"-Infinity\",\"NaN\"]");
    assertThat(json.number("NaN \" Infinity")).contains(-1.0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "absent"})
  void nullCountsAsAbsent(String key) {
    JsonFile json = parse("{'null': null}");
    assertThat(json.has(key)).isFalse();
    assertThat(json.element(key)).isEmpty();
    assertThat(json.string(key)).isEmpty();
    assertThat(json.integer(key)).isEmpty();
    assertThat(refusal(() -> json.requireInteger(key)))
        .isEqualTo("'%s' is missing; expected a whole number", key);
  }

  @Test
  void aMemberOfAnotherTypeIsRefusedWithBoth() {
    JsonFile json = parse("{'s': 'text', 'a': [1], 'o': {}}");
    assertThat(refusal(() -> json.integer("s"))).isEqualTo("'s' is \"text\"; expected a number");
    assertThat(refusal(() -> json.string("a"))).isEqualTo("'a' is an array; expected a string");
    assertThat(refusal(() -> json.bool("o"))).isEqualTo("'o' is an object; expected true or false");
    assertThat(refusal(() -> json.array("s"))).isEqualTo("'s' is \"text\"; expected an array");
    assertThat(refusal(() -> json.object("s"))).isEqualTo("'s' is \"text\"; expected an object");
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "1.5", "2147483648", "1.0E300"})
  void anIntegerOutsideAnIntIsRefused(String number) {
    assertThat(refusal(() -> parse("{'n': " + number + "}").integer("n")))
        .isEqualTo("'n' is %s; expected a whole number from 0 to 2147483647", number);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''               | is not valid JSON: end of input at line 1 column 1",
        "{'a': 1          | is not valid JSON: end of input at line 1 column 8",
        "{a: 1}           | is not valid JSON: unexpected text at line 1 column 3",
        "{'a': NaN}       | is not valid JSON: unexpected text at line 1 column 7",
        "{'a': 1} // one  | is not valid JSON: unexpected text at line 1 column 11",
        "{} {}            | is not valid JSON: unexpected text at line 1 column 5",
        "{'a': 1e999}     | holds the number 1e999; expected at most 1.7976931348623157E308 in"
            + " magnitude",
        "{'a': 1, 'a': 2} | 'a' appears twice in one JSON object",
        "{'b': [{'a': 1, 'a': 1}]} | 'a' appears twice in one JSON object",
        "[]               | holds an array; expected a JSON object"
      })
  void nonStrictJsonIsRefused(String json, String sentence) {
    assertThat(refusal(() -> parse(json))).isEqualTo(sentence);
  }

  @Test
  void nestingWithoutEndIsRefused() {
    assertThat(JsonFile.parseElement("ok", "[".repeat(64) + "]".repeat(64)).isJsonArray()).isTrue();
    assertThat(refusal(() -> JsonFile.parseElement("tiny.json", "[".repeat(1_000_000))))
        .isEqualTo("is not valid JSON: nesting limit 64 reached at line 1 column 66");
  }

  @Test
  void valuesWithoutNumberAreRefused() {
    String zeros = "[" + "0,".repeat(5_000_000) + "0]";
    assertThat(refusal(() -> JsonFile.parseElement("tiny.json", zeros)))
        .isEqualTo("holds more than 4194304 JSON values");
  }

  @Test
  void aFileIsReadOrRefusedByItsName() throws IOException {
    Path file = Files.writeString(folder.resolve("a.json"), "{\"name\": \"Óðrerir\"}");
    assertThat(JsonFile.read(file).string("name")).contains("Óðrerir");
    assertThat(JsonFile.read(file).name()).isEqualTo(file.toString());

    assertThat(refusalOf(folder)).isEqualTo("is a folder; a JSON file was expected");
    assertThat(refusalOf(folder.resolve("none.json"))).isEqualTo("no such file");
    Path latin = Files.write(folder.resolve("latin.json"), new byte[] {'"', (byte) 0xF3, '"'});
    assertThat(refusalOf(latin)).isEqualTo("is not valid UTF-8");
  }

  @Test
  void aHugeFileIsRefusedUnread() throws IOException {
    Path file = folder.resolve("huge.json");
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(3_000_000_000L);
    }
    assertThat(refusalOf(file)).isEqualTo("takes 3000000000 bytes; expected at most 100000000");
  }

  private static JsonFile parse(String json) {
    return JsonFile.parse("tiny.json", json.replace('\'', '"'));
  }

  private static String refusal(Runnable question) {
    return InMemoryFiles.refusal("tiny.json", catchThrowable(question::run));
  }

  private static String refusalOf(Path file) {
    return InMemoryFiles.refusal(file.toString(), catchThrowable(() -> JsonFile.read(file)));
  }
}
