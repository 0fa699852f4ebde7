package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.Reranker;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufValue;
import dev.kvasir.model.TinyModel.Sizes;
import dev.kvasir.text.SyntheticTokenizer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Qwen3-Reranker's scores, computed from their definition. */
class DecoderRerankerTest {
  private static final String QUERY = "deep?";
  private static final List<String> DOCUMENTS = List.of("the sea", "yes", "{query} {document}");

  /** Of the model card, around a query and a document. */
  private static final List<String> PROMPT =
      List.of(
          """
          <|im_start|>system
          Judge whether the Document meets the requirements based on the Query and the Instruct \
          provided. Note that the answer can only be "yes" or "no".<|im_end|>
          <|im_start|>user
          <Instruct>: Given a web search query, retrieve relevant passages that answer the query
          <Query>:\s""",
          "\n<Document>: ",
          "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n");

  private static final int YES = 257;
  private static final int NO = 258;
  private static final String[] WORDS = {"ye", "yes", "no", "<|im_start|>", "<|im_end|>"};
  private static final int FIRST_WORD = 256;
  private static final int FIRST_SPECIAL = FIRST_WORD + 3;

  @TempDir Path folder;

  private static TinyModel model(String architecture, boolean isChatModel) {
    Sizes small = Sizes.of(architecture);
    int vocabulary = FIRST_WORD + WORDS.length;
    TinyModel model =
        new TinyModel(
            new Sizes(architecture, 2, 32, 64, 4, 2, 8, 8, vocabulary, small.tied(), small.type()),
            11);
    model.say("context_length", 1024);
    addVocabulary(model, isChatModel);
    return model;
  }

  private static void addVocabulary(TinyModel model, boolean isChatModel) {
    List<String> texts = new ArrayList<>(List.of(SyntheticTokenizer.bytes()));
    texts.addAll(List.of(WORDS));
    GgufValue[] types = new GgufValue[texts.size()];
    for (int i = 0; i < types.length; i++) {
      types[i] = GgufValue.int32(i >= FIRST_SPECIAL && isChatModel ? 3 : 1);
    }
    model.metadata.put("tokenizer.ggml.model", GgufValue.string("gpt2"));
    model.metadata.put("tokenizer.ggml.pre", GgufValue.string("qwen2"));
    model.metadata.put("tokenizer.ggml.tokens", GgufValue.strings(texts.toArray(String[]::new)));
    model.metadata.put(
        "tokenizer.ggml.token_type",
        GgufValue.array(types[0], Arrays.copyOfRange(types, 1, types.length)));
    model.metadata.put("tokenizer.ggml.merges", GgufValue.strings("y e", "ye s", "n o"));
  }

  /** Returns the tokens of ASCII text, whose words are the two answers and the two marks. */
  private static int[] tokens(String text) {
    List<Integer> tokens = new ArrayList<>();
    for (int at = 0; at < text.length(); ) {
      int word = word(text, at);
      tokens.add(word < 0 ? text.charAt(at) : FIRST_WORD + word);
      at += word < 0 ? 1 : WORDS[word].length();
    }
    return tokens.stream().mapToInt(Integer::intValue).toArray();
  }

  private static int word(String text, int at) {
    for (int word = WORDS.length - 1; word >= 0; word--) { // the longer one of "ye" and "yes"
      if (text.startsWith(WORDS[word], at)) {
        return word;
      }
    }
    return -1;
  }

  private static String prompt(List<String> parts, String document) {
    return parts.get(0) + QUERY + parts.get(1) + document + parts.get(2);
  }

  /** Returns the probability of the first of two logits after a text. */
  private static double score(TinyModel model, String prompt, int yes, int no) {
    double[][] logits = new NaiveDecoder(model).logits(tokens(prompt));
    double[] last = logits[logits.length - 1];
    return Math.exp(last[yes]) / (Math.exp(last[yes]) + Math.exp(last[no]));
  }

  private static void assertScores(
      Path file, TinyModel model, List<String> prompt, int yes, int no) {
    try (Reranker reranker = Reranker.load(file.toString())) {
      List<Float> scores = reranker.score(QUERY, DOCUMENTS);
      for (int i = 0; i < DOCUMENTS.size(); i++) {
        double expected = score(model, prompt(prompt, DOCUMENTS.get(i)), yes, no);
        assertThat(scores.get(i)).as(DOCUMENTS.get(i)).isCloseTo((float) expected, within(1e-4f));
        assertThat(reranker.score(QUERY, List.of(DOCUMENTS.get(i)))).containsExactly(scores.get(i));
      }
      assertThat(scores).doesNotHaveDuplicates();
      assertThat(reranker.rank(QUERY, DOCUMENTS))
          .extracting(Reranker.Ranked::score)
          .isSortedAccordingTo((a, b) -> Float.compare(b, a));
    }
  }

  /** A file or folder with all of the model's tokens. */
  @Test
  void theScoreIsTheProbabilityOfYesAgainstNo() {
    TinyModel model = model("qwen3", true);
    Path file = model.writeGguf(folder.resolve("reranker.gguf"));
    assertScores(file, model, PROMPT, YES, NO);
  }

  /** As llama.cpp converts it: with the rows of both answers alone, and a prompt. */
  @Test
  void aConvertedFileBringsTheRowsAndThePrompt() {
    TinyModel model = model("qwen3", true);
    TinyTensor output = model.tensors.remove("lm_head.weight");
    float[] all = output.floats();
    int hidden = model.sizes.hidden();
    float[] rows = new float[2 * hidden];
    System.arraycopy(all, YES * hidden, rows, 0, hidden);
    System.arraycopy(all, NO * hidden, rows, hidden, hidden);
    TinyTensor ofAnswers = TinyTensor.ofFloats(rows);
    model.tensors.put(
        "cls.output.weight",
        new TinyTensor(GgmlType.F32, ofAnswers.bytes(), new long[] {2, hidden}));
    List<String> prompt = List.of("<|im_start|>", " or ", "?<|im_end|>\n");
    model.metadata.put(
        "tokenizer.chat_template.rerank",
        GgufValue.string(
            String.join("", prompt.get(0), "{query}", prompt.get(1), "{document}", prompt.get(2))));
    Path file = model.writeGguf(folder.resolve("converted.gguf"));
    model.tensors.put("lm_head.weight", output);
    assertScores(file, model, prompt, YES, NO);
  }

  @Test
  void otherDecodersAreRefused() {
    Path file = model("qwen3", false).writeGguf(folder.resolve("other.gguf"));
    assertThatThrownBy(() -> Reranker.load(file.toString()))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            file
                + ": is no reranker; expected an encoder with a classification head, or"
                + " Qwen3-Reranker");
  }

  @Test
  void aPairThatIsTooLongIsRefused() {
    Path file = model("qwen3", true).writeGguf(folder.resolve("reranker.gguf"));
    try (Reranker reranker = Reranker.load(file.toString())) {
      assertThat(reranker.maxTokens()).isEqualTo(1024);
      assertThatThrownBy(() -> reranker.score(QUERY, List.of("a".repeat(1000))))
          .hasMessageMatching("the text has 1[0-9]+ tokens; the model embeds at most 1024");
    }
  }
}
