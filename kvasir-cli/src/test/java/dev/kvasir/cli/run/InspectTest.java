package dev.kvasir.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.CommandRun;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InspectTest {
  @TempDir Path folder;

  @Test
  void theBundledModelShowsItsSizesAndMemory() {
    String out = CommandRun.of("inspect", "--kernels").succeeds().out();
    assertThat(out)
        .contains("qwen2", "8 for queries, 2 for keys and values", "byte-level BPE")
        .containsPattern("chat template +no")
        .containsPattern("Q8_0 +57 tensors")
        .contains(
            "fp16: 4.0 MiB for 1,000 tokens, 64.0 MiB for 16,384 tokens, 16.00 bits per value")
        .containsPattern("kernels +\\S+")
        .contains("Java ");
  }

  @Test
  void tensorsAreListedAndAContextIsWorkedOut() {
    String out = CommandRun.of("inspect", "--tensors", "--context", "2000").succeeds().out();
    assertThat(out).contains("token_embd.weight  8192 x 512").contains("for 2,000 tokens");
  }

  @Test
  void aShortContextHasASizeAndNoBitsPerValue() {
    assertThat(CommandRun.of("inspect", "--context", "100").succeeds().out())
        .containsPattern("KV cache +fp16: 512.0 KiB for 100 tokens\\R");
  }

  @Test
  void theGrowthOfACacheIsDrawn() {
    Path plot = folder.resolve("growth.svg");
    CommandRun.of("inspect", "--kv", "kivi:2", "--context", "2000", "--plot", plot.toString())
        .succeeds();
    assertThat(plot).content().startsWith("<svg").contains("kivi:2 while a text grows", "fp16");
  }

  @Test
  void aVocabularyOnlyFileSaysSo() throws IOException {
    Path file = VocabularyFile.write(folder.resolve("letters.gguf"), "{{ messages }}");
    String out = CommandRun.of("inspect", "--model", file.toString()).succeeds().out();
    assertThat(out)
        .contains("general.name = ", "letters", "tokenizer.ggml.tokens")
        .contains("8 entries", "begin <s> (1), end </s> (2)", "holds a vocabulary only")
        .containsPattern("chat template +yes");
  }

  @Test
  void cacheSizesAreKnownFromAConfigurationAlone() throws IOException {
    Files.writeString(
        folder.resolve("config.json"),
        """
        {"model_type": "mistral", "num_hidden_layers": 2, "hidden_size": 64,
         "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2,
         "vocab_size": 100, "max_position_embeddings": 32768, "sliding_window": 1024}
        """);
    assertThat(
            CommandRun.of("inspect", "--model", folder.toString(), "--context", "16384")
                .succeeds()
                .out())
        .contains("a sliding window of 1,024 in 2 layers", "none in the folder")
        .containsPattern("KV cache +fp16: .* for 16,384 tokens");
    Files.delete(folder.resolve("config.json"));
    CommandRun.of("inspect", "--model", folder.toString()).isRefusedWith("tokenizer.json");
  }

  @Test
  void anEncoderShowsItsEmbeddings() throws IOException {
    writeEncoder();
    String out = CommandRun.of("inspect", "--model", folder.toString()).succeeds().out();
    assertThat(out)
        .containsPattern("architecture +bert, an encoder")
        .containsPattern("text +at most 24 tokens")
        .containsPattern("embeddings +8 dimensions, pooling mean")
        .containsPattern("weights +6 values, 24 bytes in the file");
    CommandRun.of("generate", "--model", folder.toString(), "Once")
        .isRefusedWith("is an encoder, which generates no text; 'kvasir serve --model");
  }

  private void writeEncoder() throws IOException {
    Files.writeString(
        folder.resolve("config.json"),
        """
        {"model_type": "bert", "num_hidden_layers": 2, "hidden_size": 8, "num_attention_heads": 2,
         "intermediate_size": 16, "vocab_size": 100, "max_position_embeddings": 32}
        """);
    Files.writeString(folder.resolve("sentence_bert_config.json"), "{\"max_seq_length\": 24}");
    byte[] header =
        "{\"x\": {\"dtype\": \"F32\", \"shape\": [6], \"data_offsets\": [0, 24]}}"
            .getBytes(StandardCharsets.UTF_8);
    ByteBuffer file =
        ByteBuffer.allocate(Long.BYTES + header.length + 24).order(ByteOrder.LITTLE_ENDIAN);
    file.putLong(header.length).put(header);
    Files.write(folder.resolve("model.safetensors"), file.array());
  }

  @Test
  void aFolderOfGgufFilesNamesOne() throws IOException {
    Files.createFile(folder.resolve("b.gguf"));
    Files.createFile(folder.resolve("a.gguf"));
    CommandRun.of("inspect", "--model", folder.toString())
        .isRefusedWith("expected a file of the folder, such as " + folder.resolve("a.gguf"));
  }

  @Test
  void badOptionsAreRefused() {
    CommandRun.of("inspect", "--kv", "kivi:2", "--plot-bits", folder.resolve("bits.svg").toString())
        .isRefusedWith("--plot-bits is for mead", "--kv is 'kivi:2'");
    CommandRun.of("inspect", "--context", "0").isRefusedWith("--context is 0");
    CommandRun.of("inspect", "--kv", "tape").isRefusedWith("'tape' is unknown");
  }
}
