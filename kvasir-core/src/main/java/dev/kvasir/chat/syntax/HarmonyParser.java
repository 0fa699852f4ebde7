package dev.kvasir.chat.syntax;

import dev.kvasir.ToolFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses the messages of gpt-oss. Each has a header with a channel and possibly a recipient, and a
 * body: {@code <|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{…}<|call|>}.
 * The channel {@code analysis} is reasoning. The prompt ends with the role in the first header.
 */
final class HarmonyParser implements MessageParser {
  private static final String START = "<|start|>";
  private static final String CHANNEL = "<|channel|>";
  private static final String CONSTRAIN = "<|constrain|>";
  private static final String MESSAGE = "<|message|>";
  static final List<String> MARKERS =
      List.of(START, CHANNEL, CONSTRAIN, MESSAGE, "<|end|>", "<|call|>", "<|return|>");

  private static final String FUNCTIONS = "functions.";

  /** What may precede the first marker of a header; anything else is a text without a header. */
  private static final Pattern ROLE = Pattern.compile("\\s*(?:assistant)?\\s*(?:to=\\S*\\s*)?");

  private static final Pattern RECIPIENT = Pattern.compile("to=([^\\s<]+)");

  private enum State {
    HEADER,
    TEXT,
    REASONING,
    CALL,
    AFTER_CALL,
    FINISHED
  }

  private final CallableFunctions functions;
  private final MessageParts parts;
  private final MarkerScanner scanner = new MarkerScanner(MARKERS, this::character);
  private final StringBuilder header = new StringBuilder();
  private State state = State.HEADER;
  private Reader reader;

  HarmonyParser(CallableFunctions functions, MessageListener listener) {
    this.functions = functions;
    this.parts = new MessageParts(listener, CallIds.of(ToolFormat.HARMONY));
  }

  @Override
  public void push(String piece) {
    for (int i = 0; i < piece.length(); i++) {
      String marker = scanner.accept(piece.charAt(i));
      if (marker != null) {
        marker(marker);
      }
    }
    parts.flush();
  }

  private void character(char c) {
    switch (state) {
      case HEADER -> header(c);
      case TEXT -> parts.text(c);
      case REASONING -> parts.reasoning(c);
      case CALL -> call(c);
      case AFTER_CALL -> afterCall(c);
      case FINISHED -> {}
    }
  }

  private void header(char c) {
    header.append(c);
    if (header.indexOf(CHANNEL) < 0) {
      Matcher role = ROLE.matcher(header);
      if (!role.matches() && !role.hitEnd()) {
        state = State.TEXT;
        parts.text(header);
      }
    }
  }

  private void marker(String marker) {
    switch (state) {
      case FINISHED -> {}
      case HEADER -> headerMarker(marker);
      case TEXT, REASONING, CALL, AFTER_CALL -> bodyMarker(marker);
    }
  }

  private void headerMarker(String marker) {
    switch (marker) {
      case MESSAGE -> beginBody();
      case CHANNEL, CONSTRAIN -> header.append(marker);
      default -> header.setLength(0);
    }
  }

  private void bodyMarker(String marker) {
    if (marker.equals(MESSAGE) || marker.equals(CONSTRAIN)) {
      ((CharSink) this::character).accept(marker);
      return;
    }
    endBody();
    header.setLength(0);
    header.append(marker.equals(CHANNEL) ? marker : "");
    state = functions.isParallel() || calls() == 0 ? State.HEADER : State.FINISHED;
  }

  private void beginBody() {
    Optional<String> recipient = recipient();
    boolean isCall =
        !functions.isEmpty()
            && recipient
                .filter(to -> to.startsWith(FUNCTIONS) || functions.names().contains(to))
                .isPresent();
    if (isCall) {
      state = State.CALL;
      String name =
          recipient.get().startsWith(FUNCTIONS)
              ? recipient.get().substring(FUNCTIONS.length())
              : recipient.get();
      reader = new ArgumentsReader(parts, () -> name);
      parts.source(header);
      parts.source(MESSAGE);
    } else {
      state = isAnalysis() ? State.REASONING : State.TEXT;
    }
    header.setLength(0);
  }

  private Optional<String> recipient() {
    Matcher to = RECIPIENT.matcher(header);
    return to.find() ? Optional.of(to.group(1)) : Optional.empty();
  }

  private boolean isAnalysis() {
    int channel = header.lastIndexOf(CHANNEL);
    return channel >= 0
        && header.substring(channel + CHANNEL.length()).strip().startsWith("analysis");
  }

  private void call(char c) {
    parts.source(c);
    Step step = reader.accept(c);
    if (step == Step.DONE) {
      parts.settle();
      state = State.AFTER_CALL;
    } else if (step != Step.MORE) {
      parts.endCalls();
      state = State.TEXT;
    }
  }

  private void afterCall(char c) {
    if (!Character.isWhitespace(c)) {
      state = State.TEXT;
      parts.text(c);
    }
  }

  private void endBody() {
    switch (state) {
      case CALL -> parts.endCalls();
      case REASONING -> parts.endThought();
      default -> {}
    }
  }

  @Override
  public void finish() {
    scanner.finish();
    if (state == State.HEADER && header.indexOf(CHANNEL) < 0 && !isRole()) {
      parts.text(header);
    }
    if (state == State.CALL) {
      parts.endCalls();
    }
    parts.finish();
  }

  private boolean isRole() {
    return ROLE.matcher(header).matches();
  }

  @Override
  public int calls() {
    return parts.completedCalls();
  }
}
