package dev.kvasir.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Byte-level vocabularies of 256 bytes, two merges and a few special tokens. */
class GgufTokenizerTest {
  private static final int FIRST_SPECIAL = 258;

  private static GgufMetadataWriter head(String... special) {
    String[] tokens = new String[FIRST_SPECIAL + special.length];
    int[] types = new int[tokens.length];
    int other = 0x100;
    for (int value = 0; value < 256; value++) {
      boolean printable =
          value >= 0x21 && value <= 0x7E || value >= 0xA1 && value <= 0xFF && value != 0xAD;
      tokens[value] = String.valueOf((char) (printable ? value : other++));
      types[value] = 1;
    }
    tokens[256] = "ab";
    tokens[257] = "abab";
    types[256] = types[257] = 1;
    for (int i = 0; i < special.length; i++) {
      tokens[FIRST_SPECIAL + i] = special[i];
      types[FIRST_SPECIAL + i] = 3;
    }
    return new GgufMetadataWriter()
        .with("tokenizer.ggml.model", "gpt2")
        .with("tokenizer.ggml.pre", "gpt-2")
        .with("tokenizer.ggml.tokens", tokens)
        .with("tokenizer.ggml.token_type", types)
        .with("tokenizer.ggml.merges", new String[] {"a b", "ab ab"});
  }

  @ParameterizedTest
  @EnumSource
  void theLibraryRunsEveryPreTokenizer(PreTokenizer preTokenizer) {
    String text =
        "It's 12345  \u00FCber-Wert\u00F6rter\r\n\n\t\u4E2D\u6587 \u0E01\u0E34, HelloWORLDs 'Ll!? ";
    GgufMetadataWriter head = head("<s>").with("tokenizer.ggml.bos_token_id", FIRST_SPECIAL);
    for (String name : preTokenizer.names()) {
      try (Tokenizer tokenizer = head.with("tokenizer.ggml.pre", name).tokenizer()) {
        assertThat(tokenizer.decode(tokenizer.encode(text, false))).as(name).isEqualTo(text);
        assertThat(tokenizer.encode("").length == 1).isEqualTo(preTokenizer.addsBos());
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "bert, ' (WordPiece)'",
    "t5, ' (Unigram)'",
    "rwkv, ' (RWKV''s tree of words)'",
    "none, ' (no vocabulary)'",
    "abacus, ''"
  })
  void otherModelsAreRefusedByName(String model, String kind) {
    assertThatThrownBy(() -> head().with("tokenizer.ggml.model", model).tokenizer())
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "test.gguf: 'tokenizer.ggml.model' is \"%s\"%s; expected gpt2 (byte-level BPE), llama"
                    .formatted(model, kind)
                + " (SentencePiece) or gemma4 (BPE of characters)");
  }

  @Test
  void anUnknownPreTokenizerIsRefusedWithTheKnownOnes() {
    assertThatThrownBy(() -> head().with("tokenizer.ggml.pre", "elvish").tokenizer())
        .isInstanceOf(InvalidInputException.class)
        .hasMessageStartingWith(
            "test.gguf: 'tokenizer.ggml.pre' is \"elvish\"; expected one of a.x-4.0, bailingmoe,")
        .hasMessageContaining("llama-bpe")
        .hasMessageContaining("qwen2");
  }

  @Test
  void damagedVocabulariesAreRefused() {
    assertThatThrownBy(() -> head().with("tokenizer.ggml.token_type", new int[3]).tokenizer())
        .hasMessage(
            "test.gguf: 'tokenizer.ggml.token_type' has 3 entries; expected one for each of the 258"
                + " tokens");
    assertThatThrownBy(() -> head().with("tokenizer.ggml.eos_token_id", 258).tokenizer())
        .hasMessage(
            "test.gguf: 'tokenizer.ggml.eos_token_id' is 258; expected less than the 258 tokens");
    assertThatThrownBy(() -> head().with("tokenizer.ggml.merges", new String[] {"ab"}).tokenizer())
        .hasMessage(
            "test.gguf: merge 0 of 'tokenizer.ggml.merges' is \"ab\"; expected two tokens and a"
                + " space");
    assertThatThrownBy(
            () -> head().with("tokenizer.ggml.merges", new String[] {"a bb"}).tokenizer())
        .isInstanceOf(InvalidInputException.class)
        .hasMessageStartingWith("test.gguf: the tokenizer library refuses it: ");
    assertThatThrownBy(() -> head().with("tokenizer.ggml.add_bos_token", true).tokenizer())
        .hasMessage(
            "test.gguf: 'tokenizer.ggml.bos_token_id' is missing; expected one because text is to"
                + " get it");
  }

  @Test
  void wholeWordsPrecedeMergesIfTheModelIgnoresMerges() {
    GgufMetadataWriter head = head("<s>").with("tokenizer.ggml.merges", new String[] {"a b"});
    assertThat(head.tokenizer().encode("abab", false)).containsExactly(256, 256);
    head.with("tokenizer.ggml.bos_token_id", FIRST_SPECIAL).with("tokenizer.ggml.pre", "llama-bpe");
    assertThat(head.tokenizer().encode("abab")).containsExactly(FIRST_SPECIAL, 257);
  }

  @Test
  void knownEndsOfTurnEndAGeneration() {
    Tokenizer tokenizer =
        head("<|im_start|>", "<|im_end|>", "<|end|>")
            .with("tokenizer.ggml.eos_token_id", 5)
            .with("tokenizer.ggml.eot_token_id", 6)
            .tokenizer();
    assertThat(tokenizer.endOfText()).isEqualTo(Set.of(5, 6, FIRST_SPECIAL + 1, FIRST_SPECIAL + 2));
    assertThat(head("<|return|>", "<|call|>", "<|end|>").tokenizer().endOfText())
        .isEqualTo(Set.of(FIRST_SPECIAL, FIRST_SPECIAL + 1));
  }
}
