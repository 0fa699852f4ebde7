package dev.kvasir.chat.syntax;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** Reads parts one after the other. */
final class SequenceReader implements Reader {
  private final Deque<Reader> parts;

  SequenceReader(Reader... parts) {
    this.parts = new ArrayDeque<>(List.of(parts));
  }

  @Override
  public Step accept(char c) {
    while (!parts.isEmpty()) {
      switch (parts.getFirst().accept(c)) {
        case MORE -> {
          return Step.MORE;
        }
        case MALFORMED -> {
          return Step.MALFORMED;
        }
        case DONE -> {
          parts.removeFirst();
          return parts.isEmpty() ? Step.DONE : Step.MORE;
        }
        case DONE_BEFORE -> parts.removeFirst();
      }
    }
    return Step.DONE_BEFORE;
  }
}
