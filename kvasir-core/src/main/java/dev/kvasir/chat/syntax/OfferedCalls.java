package dev.kvasir.chat.syntax;

import java.util.Optional;
import java.util.Set;

/** Accepts only calls of functions that were offered, where nothing else marks text as a call. */
record OfferedCalls(CallSink sink, Set<String> names) implements CallSink {
  @Override
  public boolean start(String name, Optional<String> id) {
    return names.contains(name) && sink.start(name, id);
  }

  @Override
  public void argument(char c) {
    sink.argument(c);
  }

  @Override
  public void end() {
    sink.end();
  }

  @Override
  public void settle() {
    sink.settle();
  }
}
