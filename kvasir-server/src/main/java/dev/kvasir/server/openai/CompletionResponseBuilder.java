package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.TokenLogprob;
import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.server.api.Fields;
import dev.kvasir.text.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Builds responses of {@code /v1/completions}. */
public final class CompletionResponseBuilder extends ResponseBuilder {
  private final Map<Integer, StringBuilder> texts = new TreeMap<>();
  private final Map<Integer, String> finishReasons = new TreeMap<>();
  private final Map<Integer, List<TokenLogprob>> logprobsByChoice = new TreeMap<>();

  public CompletionResponseBuilder(String model, Tokenizer tokenizer, Fields request) {
    super("cmpl-", "text_completion", "text_completion", model, tokenizer, request);
  }

  @Override
  List<JsonObject> choiceChunks(CompletionEvent event) {
    return switch (event) {
      case CompletionEvent.Text text ->
          List.of(textChoice(text.choice(), text.text(), null, text.logprobs()));
      case CompletionEvent.Done done ->
          List.of(textChoice(done.choice(), "", finishReason(done), List.of()));
      default -> List.of();
    };
  }

  private JsonObject textChoice(
      int index, String text, String finishReason, List<TokenLogprob> logprobs) {
    JsonObject choice = choice(index, finishReason, logprobs);
    choice.addProperty("text", text);
    return choice;
  }

  @Override
  void collectChoice(CompletionEvent event) {
    StringBuilder text = texts.computeIfAbsent(event.choice(), any -> new StringBuilder());
    switch (event) {
      case CompletionEvent.Text piece -> {
        text.append(piece.text());
        logprobsByChoice
            .computeIfAbsent(event.choice(), any -> new ArrayList<>())
            .addAll(piece.logprobs());
      }
      case CompletionEvent.Done done -> finishReasons.put(done.choice(), finishReason(done));
      default -> {}
    }
  }

  @Override
  JsonArray choices() {
    JsonArray choices = new JsonArray();
    texts.forEach(
        (index, text) ->
            choices.add(
                textChoice(
                    index,
                    text.toString(),
                    finishReasons.get(index),
                    logprobsByChoice.getOrDefault(index, List.of()))));
    return choices;
  }

  @Override
  JsonObject logprobs(List<TokenLogprob> logprobs, Tokenizer tokenizer) {
    return Logprobs.ofText(logprobs, tokenizer);
  }
}
