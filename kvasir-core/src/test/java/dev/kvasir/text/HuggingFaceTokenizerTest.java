package dev.kvasir.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HuggingFaceTokenizerTest {
  /** A tokenizer that declares truncation to 4 tokens, and puts <s> first. */
  private static final String TOKENIZER =
      """
      {"version": "1.0",
       "truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
       "padding": {"strategy": {"Fixed": 20}, "direction": "Right", "pad_to_multiple_of": null,
                   "pad_id": 0, "pad_type_id": 0, "pad_token": "a"},
       "added_tokens": [
         {"id": 5, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false,
          "normalized": false, "special": true},
         {"id": 7, "content": "<|im_end|>", "single_word": false, "lstrip": false, "rstrip": false,
          "normalized": false, "special": true}],
       "normalizer": null,
       "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
                         "use_regex": true},
       "post_processor": {
         "type": "TemplateProcessing",
         "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                    {"Sequence": {"id": "A", "type_id": 0}}],
         "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
         "special_tokens": {"<s>": {"id": "<s>", "ids": [5], "tokens": ["<s>"]}}},
       "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true,
                   "use_regex": true},
       "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "\u0120": 2, "ab": 3, "\u0120a": 4,
                                          "<s>": 5, "c": 6, "<|im_end|>": 7},
                 "merges": ["a b", "\u0120 a"]}}
      """;

  @TempDir Path folder;

  @BeforeEach
  void writeTokenizer() throws IOException {
    write("tokenizer.json", TOKENIZER);
  }

  private void write(String name, String text) throws IOException {
    Files.writeString(folder.resolve(name), text);
  }

  @Test
  void encodesAsThePostProcessorSaysAndNeverCutsOrPads() {
    try (Tokenizer tokenizer = Tokenizer.ofFolder(folder)) {
      assertThat(tokenizer.encode("ab ab ab ab")).containsExactly(5, 3, 2, 3, 2, 3, 2, 3);
      assertThat(tokenizer.encode("<s>ab<|im_end|>", false)).containsExactly(5, 3, 7);
      assertThat(tokenizer.decode(new int[] {5, 3, 2, 3, 7}, true)).isEqualTo("ab ab");
      assertThat(tokenizer.description()).isEqualTo("byte-level BPE, 8 tokens");
      assertThat(tokenizer.bos()).isEmpty();
      assertThat(tokenizer.endOfText()).isEmpty();
      assertThat(tokenizer.chatTemplate()).isEmpty();
    }
  }

  @Test
  void gathersSpecialTokensFromAllFiles() throws IOException {
    write("tokenizer_config.json", "{\"bos_token\": {\"content\": \"<s>\"}, \"eos_token\": null}");
    write("special_tokens_map.json", "{\"eos_token\": \"<|im_end|>\"}");
    write("generation_config.json", "{\"eos_token_id\": [3, 4]}");
    write("config.json", "{\"eos_token_id\": 9, \"bos_token_id\": 1}");
    try (Tokenizer tokenizer = Tokenizer.ofFolder(folder)) {
      assertThat(tokenizer.bos()).isEqualTo(OptionalInt.of(5));
      assertThat(tokenizer.bosText()).hasValue("<s>");
      assertThat(tokenizer.eosText()).hasValue("<|im_end|>");
      assertThat(tokenizer.endOfText()).isEqualTo(Set.of(3, 4, 7, 9));
    }
  }

  @Test
  void findsTheChatTemplateWhereverItIs() throws IOException {
    write("chat_template.json", "{\"chat_template\": \"json\"}");
    assertThat(template()).isEqualTo("json");
    write("tokenizer_config.json", "{\"chat_template\": \"text\"}");
    assertThat(template()).isEqualTo("text");
    write(
        "tokenizer_config.json",
        """
        {"chat_template": [{"name": "tool_use", "template": "tools"},
                           {"name": "default", "template": "plain"}]}
        """);
    assertThat(template()).isEqualTo("plain");
    write("chat_template.jinja", "jinja");
    assertThat(template()).isEqualTo("jinja");
  }

  private String template() {
    try (Tokenizer tokenizer = Tokenizer.ofFolder(folder)) {
      return tokenizer.chatTemplate().orElseThrow();
    }
  }

  @Test
  void damagedFilesAreRefusedWithASentence() throws IOException {
    assertRefused(TOKENIZER.substring(0, 300), "is no tokenizer: ");
    assertRefused("[]", "is no tokenizer: ");
    assertRefused(TOKENIZER.replace("\"id\": 7", "\"id\": 99999999"), "has id 99999999; expected");
    assertRefused(
        TOKENIZER.replace(
            "\"decoder\": {\"type\": \"ByteLevel\"", "\"decoder\": {\"type\": \"CTC\""),
        "'decoder' is CTC; expected ByteLevel, Metaspace, or a sequence of");
    assertRefused(TOKENIZER.replace("\"a b\"", "\"a z\""), "the tokenizer library refuses it: ");
    write("tokenizer.json", TOKENIZER);
    write("generation_config.json", "{\"eos_token_id\": [\"x\"]}");
    assertThatThrownBy(() -> Tokenizer.ofFolder(folder))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageEndingWith("'eos_token_id' is \"x\"; expected token ids");
    Files.delete(folder.resolve("tokenizer.json"));
    assertThatThrownBy(() -> Tokenizer.ofFolder(folder))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("tokenizer.json: no such file; expected a GGUF file, or a folder");
  }

  private void assertRefused(String json, String reason) throws IOException {
    write("tokenizer.json", json);
    assertThatThrownBy(() -> Tokenizer.ofFolder(folder))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("tokenizer.json")
        .hasMessageContaining(reason);
  }
}
