package dev.kvasir.cli.run;

import dev.kvasir.GenerateOptions;
import dev.kvasir.Generation;
import dev.kvasir.Session;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Message;
import dev.kvasir.text.StopTexts;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The messages so far and the session that answers them. */
final class Conversation {
  private final Session session;
  private final ChatTemplate template;
  private final Optional<String> stopPhrase;
  private final Optional<String> system;
  private final List<Message> messages = new ArrayList<>();
  private Optional<Generation> last = Optional.empty();

  /**
   * @param stopPhrase ends an answer that does not end itself
   */
  Conversation(
      Session session,
      ChatTemplate template,
      Optional<String> stopPhrase,
      Optional<String> system) {
    this.session = session;
    this.template = template;
    this.stopPhrase = stopPhrase;
    this.system = system;
    reset();
  }

  void reset() {
    session.reset();
    messages.clear();
    last = Optional.empty();
    system.map(Message::system).ifPresent(messages::add);
  }

  /** Answers a message; where that fails, the message counts as not said. */
  Generation answer(String message, GenerateOptions options, AnswerPrinter printer) {
    messages.add(Message.user(message));
    try {
      Turn turn = new Turn(printer, stopPhrase.map(List::of).map(StopTexts::new));
      Generation made = session.chat(messages, template, options, turn);
      messages.add(Message.assistant(turn.finish()));
      last = Optional.of(made);
      return made;
    } catch (RuntimeException e) {
      messages.removeLast();
      throw e;
    }
  }

  Session session() {
    return session;
  }

  /** What the last answer took. */
  Optional<Generation> last() {
    return last;
  }
}
