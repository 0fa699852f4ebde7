package dev.kvasir.server.api;

import dev.kvasir.TokenLogprob;
import java.util.ArrayList;
import java.util.List;

/** A part of a completion: reasoning, text or a tool call. */
public final class OutputBlock {
  /** What a block consists of. */
  public enum Kind {
    REASONING,
    TEXT,
    CALL
  }

  private final int index;
  private final Kind kind;
  private final String callId;
  private final String name;
  private final StringBuilder content = new StringBuilder();
  private final List<TokenLogprob> logprobs = new ArrayList<>();
  private boolean closed;
  private boolean complete;

  private OutputBlock(int index, Kind kind, String callId, String name) {
    this.index = index;
    this.kind = kind;
    this.callId = callId;
    this.name = name;
  }

  static OutputBlock text(int index, Kind kind) {
    return new OutputBlock(index, kind, null, null);
  }

  static OutputBlock call(int index, String callId, String name) {
    return new OutputBlock(index, Kind.CALL, callId, name);
  }

  void append(String piece, List<TokenLogprob> tokens) {
    content.append(piece);
    logprobs.addAll(tokens);
  }

  void close(boolean isComplete) {
    closed = true;
    complete = isComplete;
  }

  /** Returns its position in the completion. */
  public int index() {
    return index;
  }

  public Kind kind() {
    return kind;
  }

  /** Returns the id of a tool call; null for text. */
  public String callId() {
    return callId;
  }

  /** Returns the function of a tool call; null for text. */
  public String name() {
    return name;
  }

  /** Returns the text, or the arguments of a call as JSON, as far as they are known. */
  public String content() {
    return content.toString();
  }

  /** Returns the logprobs of its tokens; empty unless requested. */
  public List<TokenLogprob> logprobs() {
    return List.copyOf(logprobs);
  }

  public boolean isClosed() {
    return closed;
  }

  /** Returns whether the block has its end; a malformed or unfinished call has none. */
  public boolean isComplete() {
    return complete;
  }
}
