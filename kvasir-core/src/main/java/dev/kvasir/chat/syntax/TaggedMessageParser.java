package dev.kvasir.chat.syntax;

import dev.kvasir.chat.syntax.CallSyntax.Opening;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Parses messages in which texts mark calls and reasoning. Calls of functions that were offered are
 * also recognised without a marker, as fenced JSON or as JSON at the beginning, since small models
 * forget the marker.
 */
final class TaggedMessageParser implements MessageParser {
  private static final String FENCE = "```";

  /** After a marker that begins no call, so many characters are searched for another marker. */
  private static final int MAX_REREAD = 64;

  private enum State {
    TEXT,
    REASONING,
    CALL,
    FINISHED
  }

  private final CallSyntax calls;
  private final ReasoningTags reasoning;
  private final CallableFunctions functions;
  private final ParameterTypes types;
  private final MessageParts parts;
  private final MarkerScanner text;
  private final Set<String> wrappers;
  private MarkerScanner thought;
  private Reader reader;
  private String marker; // before the text that the reader reads
  private State state;

  TaggedMessageParser(
      MessageSyntax syntax,
      CallableFunctions functions,
      boolean startsInReasoning,
      MessageListener listener) {
    this.calls = CallSyntax.of(syntax.format());
    this.reasoning = syntax.reasoning();
    this.functions = functions;
    this.types = functions.types();
    this.parts = new MessageParts(listener, CallIds.of(syntax.format()));
    this.wrappers = Set.copyOf(calls.wrappers());
    this.text = new MarkerScanner(textMarkers(), parts::text);
    this.state = State.TEXT;
    if (startsInReasoning) {
      beginReasoning();
    }
  }

  /** Returns the texts with a meaning outside calls and reasoning. */
  private List<String> textMarkers() {
    List<String> markers = new ArrayList<>(reasoning.open());
    markers.addAll(calls.wrappers());
    if (!functions.isEmpty()) {
      calls.openings().forEach(opening -> markers.add(opening.marker()));
      markers.addAll(calls.closings());
      markers.add(FENCE);
    }
    return markers;
  }

  @Override
  public void push(String piece) {
    for (int i = 0; i < piece.length(); i++) {
      accept(piece.charAt(i));
    }
    parts.flush();
  }

  private void accept(char c) {
    switch (state) {
      case TEXT -> text(c);
      case REASONING -> reasoning(c);
      case CALL -> call(c);
      case FINISHED -> {}
    }
  }

  private void text(char c) {
    if (parts.isBlank() && !text.isHolding() && !functions.isEmpty() && isUnmarkedStart(c)) {
      begin("", unmarked(c));
      call(c);
      return;
    }
    String found = text.accept(c);
    if (found != null) {
      found(found);
    }
  }

  private boolean isUnmarkedStart(char c) {
    return c == '{' || c == '[' && calls.openings().stream().noneMatch(Opening::beginsWithBracket);
  }

  private Reader unmarked(char c) {
    CallSink sink = new OfferedCalls(parts, functions.names());
    if (c == '{') {
      return new JsonCallsReader(sink, true);
    }
    return CallSyntax.list(sink, true);
  }

  private void found(String text) {
    Optional<Opening> opening = calls.opening(text);
    if (opening.isPresent()) {
      begin(text, opening.get().reader().apply(parts, types));
    } else if (text.equals(FENCE)) {
      OfferedCalls offered = new OfferedCalls(parts, functions.names());
      begin(text, new FenceReader(offered, FenceReader.JSON, true));
    } else if (reasoning.open().contains(text)) {
      beginReasoning();
    } else if (!wrappers.contains(text) && parts.completedCalls() == 0) {
      parts.text(text);
    }
  }

  private void beginReasoning() {
    state = State.REASONING;
    thought = new MarkerScanner(reasoning.close(), parts::reasoning);
  }

  private void reasoning(char c) {
    if (thought.accept(c) != null) {
      parts.endThought();
      state = State.TEXT;
    }
  }

  private void begin(String opening, Reader next) {
    state = State.CALL;
    reader = next;
    marker = opening;
    parts.source(opening);
  }

  private void call(char c) {
    parts.source(c);
    switch (reader.accept(c)) {
      case MORE -> stopAfterTheOnlyCall();
      case DONE -> {
        parts.settle();
        endCalls();
      }
      case DONE_BEFORE -> {
        parts.unreadSource();
        endCalls();
        accept(c);
      }
      case MALFORMED -> {
        parts.unreadSource();
        String again = parts.unread(marker, MAX_REREAD);
        endCalls();
        again.chars().forEach(other -> accept((char) other));
        accept(c);
      }
    }
  }

  private void endCalls() {
    parts.endCalls();
    state = State.TEXT;
    stopAfterTheOnlyCall();
  }

  private void stopAfterTheOnlyCall() {
    if (!functions.isParallel() && parts.completedCalls() > 0) {
      state = State.FINISHED;
    }
  }

  @Override
  public void finish() {
    switch (state) {
      case TEXT -> text.finish();
      case REASONING -> thought.finish();
      case CALL -> parts.endCalls();
      case FINISHED -> {}
    }
    parts.finish();
  }

  @Override
  public int calls() {
    return parts.completedCalls();
  }
}
