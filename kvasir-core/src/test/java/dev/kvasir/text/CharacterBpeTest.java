package dev.kvasir.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The vocabulary of Gemma 4's GGUF files in small: special tokens, the 256 bytes, and pieces with
 * ranked merges. The expected ids were derived by hand, merge by merge.
 */
class CharacterBpeTest {
  private static final List<String> SPECIAL =
      List.of("<pad>", "<eos>", "<bos>", "<unk>", "<|tool_response>", "<|turn>", "<turn|>");
  private static final List<Integer> SPECIAL_TYPES = List.of(3, 3, 3, 2, 4, 3, 3);
  private static final int BYTES = SPECIAL.size();
  private static final int PIECES = BYTES + 256;
  private static final List<String> SPELLED =
      List.of(
          "\n", "\n\n", "\n\n\n", "__", "_", "t", "h", "e", "a", "th", "_t", "he", "_th", "the",
          "_the");
  private static final String[] MERGES = {
    "\n \n", "\n \n\n", "\n\n \n", "_ _", "t h", "_ t", "h e", "_ th", "_t h", "th e", "t he",
    "_ the", "_th e", "_t he"
  };

  private static int id(String piece) {
    return PIECES + SPELLED.indexOf(piece);
  }

  private static int byteId(int value) {
    return BYTES + value;
  }

  private static GgufMetadataWriter head() {
    List<String> tokens = new ArrayList<>(SPECIAL);
    List<Integer> types = new ArrayList<>(SPECIAL_TYPES);
    for (int value = 0; value < 256; value++) {
      tokens.add("<0x%02X>".formatted(value));
      types.add(6);
    }
    for (String piece : SPELLED) {
      tokens.add(spelled(piece));
      types.add(1);
    }
    return new GgufMetadataWriter()
        .with("tokenizer.ggml.model", "gemma4")
        .with("tokenizer.ggml.tokens", tokens.toArray(String[]::new))
        .with("tokenizer.ggml.scores", new float[tokens.size()])
        .with("tokenizer.ggml.token_type", types.stream().mapToInt(type -> type).toArray())
        .with("tokenizer.ggml.merges", merges(MERGES))
        .with("tokenizer.ggml.bos_token_id", 2)
        .with("tokenizer.ggml.eos_token_id", 1)
        .with("tokenizer.ggml.unknown_token_id", 3)
        .with("tokenizer.ggml.add_space_prefix", false)
        .with("tokenizer.ggml.add_bos_token", true);
  }

  private static String[] merges(String... merges) {
    return Arrays.stream(merges).map(CharacterBpeTest::spelled).toArray(String[]::new);
  }

  private static String spelled(String piece) {
    return piece.replace('_', '\u2581');
  }

  @Test
  void mergesTheWholeTextByRank() {
    try (Tokenizer tokenizer = head().tokenizer()) {
      assertThat(tokenizer.encode("the the")).containsExactly(2, id("the"), id("_the"));
      assertThat(tokenizer.encode("a  the", false)).containsExactly(id("a"), id("__"), id("the"));
      assertThat(tokenizer.encode("a\n\n\nhe", false))
          .containsExactly(id("a"), id("\n\n\n"), id("he"));
      assertThat(tokenizer.encode("\n the", false)).containsExactly(id("\n"), id("_the"));
      assertThat(tokenizer.encode(" ", false)).containsExactly(id("_"));
      assertThat(tokenizer.encode("")).containsExactly(2);
      assertThat(tokenizer.description())
          .isEqualTo("SentencePiece BPE, 278 tokens, merges of characters");
    }
  }

  @Test
  void charactersWithoutATokenBecomeBytes() {
    try (Tokenizer tokenizer = head().tokenizer()) {
      assertThat(tokenizer.encode("a\u00E9t", false))
          .containsExactly(id("a"), byteId(0xC3), byteId(0xA9), id("t"));
      String text = " the  \uD83D\uDE00\n\n\n\n\"\\\t\u0001 Zo\u00EB the ";
      assertThat(tokenizer.decode(tokenizer.encode(text, false))).isEqualTo(text);
    }
  }

  @Test
  void specialTokensOfAPromptAreRecognisedAndEndATurn() {
    try (Tokenizer tokenizer = head().tokenizer()) {
      assertThat(tokenizer.encode("<bos><|turn>the<turn|>\n", false))
          .containsExactly(2, 5, id("the"), 6, id("\n"));
      assertThat(tokenizer.endOfText()).isEqualTo(Set.of(1, 4, 6));
      assertThat(tokenizer.isSpecial(4)).isFalse();
      assertThat(tokenizer.decode(new int[] {5, id("the"), 6}, true)).isEqualTo("the");
    }
  }

  @Test
  void textBeginsWithBosWhateverTheFileSays() {
    try (Tokenizer tokenizer = head().with("tokenizer.ggml.add_bos_token", false).tokenizer()) {
      assertThat(tokenizer.encode("a")).containsExactly(2, id("a"));
    }
  }

  @Test
  void bytesWithoutATokenAreUnknown() {
    String[] tokens = head().metadata().strings("tokenizer.ggml.tokens").orElseThrow().clone();
    tokens[byteId(0xC3)] = "<unused0>";
    try (Tokenizer tokenizer = head().with("tokenizer.ggml.tokens", tokens).tokenizer()) {
      assertThat(tokenizer.encode("a\u00E9t", false)).containsExactly(id("a"), 3, id("t"));
    }
  }

  @Test
  void damagedVocabulariesAreRefused() {
    GgufMetadataWriter withoutMerges =
        new GgufMetadataWriter()
            .with("tokenizer.ggml.model", "gemma4")
            .with("tokenizer.ggml.tokens", new String[] {"<bos>", "a"})
            .with("tokenizer.ggml.bos_token_id", 0);
    refuses(
        withoutMerges, "test.gguf: 'tokenizer.ggml.merges' is missing; expected an array", true);
    refuses(
        head().with("tokenizer.ggml.merges", merges("t h e")),
        "test.gguf: merge 0 of 'tokenizer.ggml.merges' is \"t h e\"; expected two tokens and a"
            + " space",
        true);
    refuses(
        head().with("tokenizer.ggml.merges", merges("t x")),
        "test.gguf: the tokenizer library refuses it: ",
        false);
    refuses(
        head().with("tokenizer.ggml.bos_token_id", 278),
        "test.gguf: 'tokenizer.ggml.bos_token_id' is 278; expected less than the 278 tokens",
        true);
    refuses(
        head().with("tokenizer.ggml.unknown_token_id", 400),
        "test.gguf: 'tokenizer.ggml.unknown_token_id' is 400; expected less than the 278 tokens",
        true);
  }

  @Test
  void aVocabularyWithoutBosIsRefused() {
    GgufMetadataWriter head =
        new GgufMetadataWriter()
            .with("tokenizer.ggml.model", "gemma4")
            .with("tokenizer.ggml.tokens", new String[] {"a"})
            .with("tokenizer.ggml.merges", new String[0]);
    refuses(
        head,
        "test.gguf: 'tokenizer.ggml.bos_token_id' is missing; expected one because text is to get"
            + " it",
        true);
  }

  private static void refuses(GgufMetadataWriter head, String message, boolean whole) {
    var thrown =
        assertThatThrownBy(() -> head.tokenizer().close())
            .isInstanceOf(InvalidInputException.class);
    if (whole) {
      thrown.hasMessage(message);
    } else {
      thrown.hasMessageStartingWith(message);
    }
  }
}
