package dev.kvasir.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.Gson;
import dev.kvasir.error.InvalidInputException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares splits with those of llama.cpp, recorded by tools/split-goldens. */
class PreTokenizerTest {
  /** Pre-tokenizers of embedding models and of unsupported models. */
  private static final Set<String> UNSUPPORTED = Set.of("afmoe", "granite-embed-multi-97m");

  /**
   * Patterns that depend on case or count marks as letters, which llama.cpp's regular expressions
   * cannot.
   */
  private static final Set<String> BY_CASE =
      Set.of("gpt-4o", "kimi-k2", "tekken", "tiny_aya", "youtu");

  private record Split(String pre, List<String> words) {
    String text() {
      return String.join("", words);
    }
  }

  @BeforeAll
  static void loadTheLibrary() {
    NativeTokenizers.prepare();
  }

  static Stream<String> names() throws IOException {
    return splits().stream().map(Split::pre).distinct();
  }

  @ParameterizedTest
  @MethodSource("names")
  void wordsAreThoseOfTheReference(String name) throws IOException {
    if (UNSUPPORTED.contains(name)) {
      assertThatThrownBy(() -> PreTokenizer.named("test.gguf", name))
          .isInstanceOf(InvalidInputException.class);
      return;
    }
    try (SplitWords words = words(name)) {
      for (Split split : splits()) {
        boolean judged = !BY_CASE.contains(name) || !isAboutCaseOrMarks(split.text());
        if (split.pre().equals(name) && judged) {
          assertThat(words.of(split.text())).isEqualTo(split.words());
        }
      }
    }
  }

  private static boolean isAboutCaseOrMarks(String text) {
    return text.contains("HelloWorld") || text.contains("e\u0301");
  }

  @ParameterizedTest
  @ValueSource(strings = {"gpt-4o", "kimi-k2", "tekken", "tiny_aya", "youtu"})
  void aCapitalStartsAWordAndMarksBelongToTheirLetters(String name) {
    try (SplitWords words = words(name)) {
      assertThat(words.of("HelloWorld XMLHttpRequest ABCdefGHI"))
          .containsExactly("Hello", "World", " XMLHttp", "Request", " ABCdef", "GHI");
      assertThat(words.of("e\u0301e \u0928\u092E\u0938\u094D\u0924\u0947"))
          .containsExactly("e\u0301e", " \u0928\u092E\u0938\u094D\u0924\u0947");
    }
  }

  private static SplitWords words(String name) {
    return new SplitWords(singleBytes(), PreTokenizer.named("test.gguf", name));
  }

  private static GgufVocabulary singleBytes() {
    GgufMetadataWriter head =
        new GgufMetadataWriter()
            .with("tokenizer.ggml.tokens", SyntheticTokenizer.bytes())
            .with("tokenizer.ggml.merges", new String[0]);
    return GgufVocabulary.read("test.gguf", head.metadata());
  }

  private static List<Split> splits() throws IOException {
    try (InputStream in = PreTokenizerTest.class.getResourceAsStream("splits.jsonl");
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      return lines.lines().map(line -> new Gson().fromJson(line, Split.class)).toList();
    }
  }
}
