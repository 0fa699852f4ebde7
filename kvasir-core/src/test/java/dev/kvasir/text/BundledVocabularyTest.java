package dev.kvasir.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.reflect.TypeToken;
import dev.kvasir.format.GgufFile;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.junit.jupiter.api.Test;

/** The byte-level vocabulary of the bundled model, which round-trips every text. */
class BundledVocabularyTest {
  static final Path MODEL =
      Path.of("../kvasir-mini/src/main/resources/dev/kvasir/mini/kvasir-mini-q8_0.gguf");

  private static final Tokenizer TOKENIZER = open();

  private static Tokenizer open() {
    try (GgufFile file = GgufFile.open(MODEL)) {
      return Tokenizer.ofGguf(file.name(), file.metadata());
    }
  }

  @Test
  void idsAreExactlyThoseOfTheReference() throws IOException {
    try (Reader reader =
        new InputStreamReader(
            getClass().getResourceAsStream("/dev/kvasir/golden.json"), StandardCharsets.UTF_8)) {
      for (JsonElement element : JsonParser.parseReader(reader).getAsJsonArray()) {
        JsonObject golden = element.getAsJsonObject();
        String text = golden.get("text").getAsString();
        assertThat(TOKENIZER.encode(text)).as(text).isEqualTo(ids(golden, "ids"));
        assertThat(TOKENIZER.decode(ids(golden, "ids"))).isEqualTo(text);
        assertThat(TOKENIZER.decode(ids(golden, "greedy"), true))
            .isEqualTo(golden.get("greedy_text").getAsString());
      }
    }
  }

  private static int[] ids(JsonObject golden, String key) {
    return new Gson().fromJson(golden.get(key), new TypeToken<int[]>() {});
  }

  @Test
  void describesItself() {
    assertThat(TOKENIZER.description())
        .isEqualTo("byte-level BPE, 8192 tokens, pre-tokenizer qwen2");
    assertThat(TOKENIZER.vocabularySize()).isEqualTo(8192);
    assertThat(TOKENIZER.bos()).isEqualTo(OptionalInt.of(0));
    assertThat(TOKENIZER.bosText()).hasValue("<|endoftext|>");
    assertThat(TOKENIZER.endOfText()).isEqualTo(Set.of(0));
    assertThat(TOKENIZER.tokenText(0)).isEqualTo("<|endoftext|>");
    assertThat(TOKENIZER.chatTemplate()).isEmpty();
  }

  @Test
  void specialTokensInTheTextAreRecognisedAndMayBeSkipped() {
    int[] ids = TOKENIZER.encode("Once<|endoftext|> upon");
    assertThat(ids).containsOnlyOnce(0);
    assertThat(TOKENIZER.decode(ids)).isEqualTo("Once<|endoftext|> upon");
    assertThat(TOKENIZER.decode(ids, true)).isEqualTo("Once upon");
  }

  @Test
  void idsBeyondTheVocabularyAreEmptyAndNegativeOnesAreRefused() {
    assertThat(TOKENIZER.decode(new int[] {8192, 100_000})).isEmpty();
    assertThatThrownBy(() -> TOKENIZER.decode(new int[] {-1}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("token id -1; expected 0 or more");
  }

  @Test
  void halfASurrogatePairBecomesTheReplacementCharacter() {
    assertThat(TOKENIZER.decode(TOKENIZER.encode("a\uD83Db \uD83D\uDE00 \uDE00")))
        .isEqualTo("a\uFFFDb \uD83D\uDE00 \uFFFD");
  }

  @Test
  void severalThreadsMayEncodeAtOnce() {
    String text = "Once upon a time there was a little ship. ".repeat(200);
    int[] ids = TOKENIZER.encode(text);
    assertThat(IntStream.range(0, 64).parallel().mapToObj(i -> TOKENIZER.encode(text)))
        .allSatisfy(each -> assertThat(each).isEqualTo(ids));
  }

  @Test
  void aClosedTokenizerRefusesToEncode() {
    Tokenizer closed = open();
    closed.close();
    closed.close();
    assertThatThrownBy(() -> closed.encode("a"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("The tokenizer is closed");
    assertThat(closed.decode(new int[] {47})).isNotEmpty();
  }

  @Property(tries = 500, seed = "7")
  void anyTextRoundTrips(@ForAll("texts") String text) {
    assertThat(TOKENIZER.decode(TOKENIZER.encode(text))).isEqualTo(text);
  }

  @Property(tries = 300, seed = "11")
  void aStreamBuffersIncompleteCharacters(@ForAll("texts") String text) {
    TextStream stream = TOKENIZER.stream(false);
    StringBuilder pushed = new StringBuilder();
    for (int id : TOKENIZER.encode(text.replace('\uFFFD', '?'))) {
      pushed.append(stream.push(id));
    }
    assertThat(pushed.toString()).isEqualTo(text.replace('\uFFFD', '?'));
    assertThat(stream.finish()).isEmpty();
  }

  @Property(tries = 1000, seed = "13")
  void aStreamOfAnyIdsIsTheirDecoding(@ForAll("ids") int[] ids, @ForAll boolean skip) {
    TextStream stream = TOKENIZER.stream(skip);
    StringBuilder pushed = new StringBuilder();
    for (int id : ids) {
      pushed.append(stream.push(id));
    }
    assertThat(pushed.append(stream.finish()).toString()).isEqualTo(TOKENIZER.decode(ids, skip));
  }

  @Provide
  Arbitrary<String> texts() {
    return Arbitraries.strings()
        .filter(text -> StandardCharsets.UTF_8.newEncoder().canEncode(text));
  }

  /** The first 257 ids are single bytes: most sequences of them are invalid UTF-8. */
  @Provide
  Arbitrary<int[]> ids() {
    return Arbitraries.frequencyOf(
            Tuple.of(4, Arbitraries.integers().between(0, 256)),
            Tuple.of(1, Arbitraries.integers().between(0, 8200)))
        .array(int[].class)
        .ofMaxSize(60);
  }
}
