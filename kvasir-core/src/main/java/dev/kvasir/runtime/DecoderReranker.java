package dev.kvasir.runtime;

import dev.kvasir.engine.StateReceiver;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.Tensor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Scores with a decoder that answers yes or no, as Qwen3-Reranker does:
 *
 * <pre>
 * score = exp(yes) / (exp(yes) + exp(no)) = sigmoid(yes - no)
 * </pre>
 *
 * <p>where both are logits after the prompt. Their difference is the product of the last hidden
 * state with the difference of two rows of the output matrix.
 */
final class DecoderReranker implements LocalReranker {
  private static final String INSTRUCTION =
      "Given a web search query, retrieve relevant passages that answer the query";

  /** The prompt that Qwen3-Reranker was trained with, as its model card gives it. */
  private static final String TEMPLATE =
      "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and"
          + " the Instruct provided. Note that the answer can only be \"yes\" or \"no\"."
          + "<|im_end|>\n<|im_start|>user\n<Instruct>: "
          + INSTRUCTION
          + "\n<Query>: {query}\n<Document>: {document}<|im_end|>\n<|im_start|>assistant\n"
          + "<think>\n\n</think>\n\n";

  private static final Pattern PLACE = Pattern.compile("\\{(query|document)}");

  private final TextReader reader;
  private final String template;
  private final float[] direction; // the row of yes minus that of no
  private final Runnable onClose;

  /**
   * @throws InvalidInputException if the model is no such decoder
   */
  DecoderReranker(LoadedModel model, Runnable onClose) {
    this.reader = new TextReader(model, "rerankers");
    Optional<Head> head = Head.of(Path.of(model.name()), model.config().hidden());
    this.template = head.flatMap(Head::template).orElse(TEMPLATE);
    float[] yes = head.map(Head::yes).orElseGet(() -> outputRow(model, "yes"));
    float[] no = head.map(Head::no).orElseGet(() -> outputRow(model, "no"));
    this.direction = new float[yes.length];
    for (int i = 0; i < yes.length; i++) {
      direction[i] = yes[i] - no[i];
    }
    this.onClose = onClose;
  }

  /** The rows of the answers in a converted file, which has no others then, and its prompt. */
  private record Head(float[] yes, float[] no, Optional<String> template) {
    static Optional<Head> of(Path file, int hidden) {
      if (!Files.isRegularFile(file)) {
        return Optional.empty();
      }
      try (GgufFile gguf = GgufFile.open(file)) {
        if (gguf.find("cls.output.weight").isEmpty()) {
          return Optional.empty();
        }
        Tensor rows = gguf.require("cls.output.weight", 2, hidden);
        return Optional.of(
            new Head(
                rows.part(0).toFloats(),
                rows.part(1).toFloats(),
                gguf.metadata().string("tokenizer.chat_template.rerank")));
      }
    }
  }

  private static float[] outputRow(LoadedModel model, String answer) {
    int[] tokens = model.encode(answer);
    if (tokens.length != 1 || model.tokenizer().specialToken("<|im_start|>").isEmpty()) {
      throw new InvalidInputException(
          "%s: is no reranker; expected an encoder with a classification head, or Qwen3-Reranker"
              .formatted(model.name()));
    }
    return model.outputRow(tokens[0]);
  }

  @Override
  public String name() {
    return reader.model().name();
  }

  @Override
  public int maxTokens() {
    return reader.model().contextLength();
  }

  @Override
  public Pair encode(String query, String document) {
    // In one pass: a query may contain {document}.
    String prompt =
        PLACE
            .matcher(template)
            .replaceAll(
                found ->
                    Matcher.quoteReplacement(found.group().equals("{query}") ? query : document));
    int[] tokens =
        EmbeddedText.checked(
            reader.model().tokenizer().encode(prompt, false),
            maxTokens(),
            reader.model().config().vocabulary());
    return new Pair(tokens, new int[tokens.length]);
  }

  @Override
  public List<Float> scoreAll(List<Pair> pairs, int atOnce, Runnable check) {
    return reader.readAll(
        pairs.stream().map(Pair::tokens).toList(), atOnce, tokens -> score(tokens, check));
  }

  private float score(int[] tokens, Runnable check) {
    float[] score = new float[1];
    reader.read(
        tokens,
        new StateReceiver() {
          @Override
          public boolean wants(int position) {
            return position == tokens.length - 1;
          }

          @Override
          public void accept(float[] states, int at) {
            score[0] = LocalReranker.sigmoid(dot(states, at));
          }
        },
        check);
    return score[0];
  }

  private double dot(float[] states, int at) {
    double sum = 0;
    for (int i = 0; i < direction.length; i++) {
      sum += (double) states[at + i] * direction[i];
    }
    return sum;
  }

  @Override
  public int concurrency() {
    return TextReader.CONCURRENCY;
  }

  @Override
  public long maxBytes(int tokens) {
    return reader.maxBytes(tokens);
  }

  @Override
  public void close() {
    onClose.run();
  }
}
