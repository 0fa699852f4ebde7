package dev.kvasir.server.answer;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import dev.kvasir.sampling.TokenLikelihood;
import dev.kvasir.server.answer.AnswerRequest.Splitting;
import dev.kvasir.text.StopTexts;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Takes a choice's text apart as it comes: it ends before a stop phrase, thinking is told from
 * answering, and calls of tools from both.
 */
final class AnswerText {
  private final int choice;
  private final Consumer<AnswerEvent> out;
  private final StopTexts stops;
  private final Optional<TagSplitter> thinking;
  private final Optional<TagSplitter> calling;
  private final StringBuilder call = new StringBuilder();
  private final List<TokenLikelihood> likelihoods = new ArrayList<>();
  private int calls;

  AnswerText(int choice, List<String> stops, Splitting splitting, Consumer<AnswerEvent> out) {
    this.choice = choice;
    this.out = out;
    this.stops = new StopTexts(stops);
    this.calling = splitting.tools().map(this::callSplitter);
    this.thinking =
        splitting.reasoning()
            ? Optional.of(thoughtSplitter(splitting.beginsThinking()))
            : Optional.empty();
  }

  private TagSplitter thoughtSplitter(boolean beginsInside) {
    return new TagSplitter(
        "<think>", "</think>", beginsInside, this::spoken, this::thought, () -> {});
  }

  private TagSplitter callSplitter(ToolSyntax syntax) {
    return new TagSplitter(
        syntax.open(), syntax.close(), false, this::said, call::append, this::called);
  }

  void push(String piece) {
    told(stops.push(piece));
  }

  private void told(String text) {
    thinking.ifPresentOrElse(splitter -> splitter.push(text), () -> spoken(text));
  }

  private void thought(String text) {
    out.accept(new AnswerEvent.Reasoning(choice, text));
  }

  private void spoken(String text) {
    calling.ifPresentOrElse(splitter -> splitter.push(text), () -> said(text));
  }

  private void said(String text) {
    // Line breaks around calls are no text of their own.
    if (!text.isEmpty() && !(calls > 0 && text.isBlank())) {
      tellText(text);
    }
  }

  private void tellText(String text) {
    out.accept(new AnswerEvent.Text(choice, text, List.copyOf(likelihoods)));
    likelihoods.clear();
  }

  /** A token whose text comes next, or in a while. */
  void likelihood(TokenLikelihood token) {
    likelihoods.add(token);
  }

  /** A call that cannot be read is text, as the model wrote it. */
  private void called() {
    String written = call.toString();
    call.setLength(0);
    JsonObject object = objectOf(written);
    if (object == null || !(object.get("name") instanceof JsonPrimitive name)) {
      tellText(written);
      return;
    }
    JsonElement arguments =
        object.has("arguments") ? object.get("arguments") : object.get("parameters");
    out.accept(new AnswerEvent.ToolCall(choice, calls++, name.getAsString(), text(arguments)));
  }

  /** Null where a text is no JSON object. */
  private static JsonObject objectOf(String written) {
    try {
      return JsonParser.parseString(written) instanceof JsonObject object ? object : null;
    } catch (JsonParseException e) {
      return null;
    }
  }

  /** Arguments travel as text; some models write them as text already. */
  private static String text(JsonElement arguments) {
    if (arguments == null || arguments.isJsonNull()) {
      return "{}";
    }
    return arguments.isJsonPrimitive() ? arguments.getAsString() : arguments.toString();
  }

  /** Whether a stop phrase has come. */
  boolean hasStopped() {
    return stops.found();
  }

  boolean hasCalled() {
    return calls > 0;
  }

  /** Tells what was held back, when no more text comes. */
  void finish() {
    told(stops.finish());
    thinking.ifPresent(TagSplitter::finish);
    calling.ifPresent(TagSplitter::finish);
    if (!call.isEmpty()) {
      called();
    }
  }
}
