package dev.kvasir.chat.syntax;

import dev.kvasir.ToolFormat;
import java.util.UUID;
import java.util.function.Supplier;

/** Creates ids of tool calls that the template of a model accepts. */
final class CallIds {
  /** Mistral's templates reject other lengths. */
  private static final int MISTRAL_LENGTH = 9;

  private CallIds() {}

  static Supplier<String> of(ToolFormat format) {
    return switch (format) {
      case MISTRAL, MISTRAL_ARGS -> () -> random().substring(0, MISTRAL_LENGTH);
      default -> () -> "call_" + random();
    };
  }

  private static String random() {
    return UUID.randomUUID().toString().replace("-", "");
  }
}
