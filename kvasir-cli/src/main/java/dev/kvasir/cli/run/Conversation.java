package dev.kvasir.cli.run;

import dev.kvasir.Generation;
import dev.kvasir.cli.session.Transcript;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.ModelSession;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Message;
import dev.kvasir.text.StopSequences;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The messages of a chat and the session that answers them. */
final class Conversation {
  private final ModelSession session;
  private final String model;
  private final ChatTemplate template;
  private final Optional<String> stopPhrase;
  private final Optional<String> system;
  private final List<Message> messages = new ArrayList<>();
  private Optional<Generation> last = Optional.empty();

  /**
   * @param model the model's own name
   * @param stopPhrase ends an answer of a model that does not end it
   * @param history earlier messages; empty for a new conversation
   */
  Conversation(
      ModelSession session,
      String model,
      ChatTemplate template,
      Optional<String> stopPhrase,
      Optional<String> system,
      List<Message> history) {
    this.session = session;
    this.model = model;
    this.template = template;
    this.stopPhrase = stopPhrase;
    this.system = system;
    begin(history);
  }

  private void begin(List<Message> history) {
    messages.clear();
    messages.addAll(history);
    if (history.isEmpty()) {
      system.map(Message::system).ifPresent(messages::add);
    }
  }

  void reset() {
    session.reset();
    last = Optional.empty();
    begin(List.of());
  }

  Transcript transcript() {
    return new Transcript(model, messages);
  }

  /** Answers a message. If that fails, the message is removed again. */
  Generation answer(String message, GenerationSettings options, AnswerPrinter printer) {
    messages.add(Message.user(message));
    try {
      ReplyCollector collector =
          new ReplyCollector(printer, stopPhrase.map(List::of).map(StopSequences::new));
      Generation made = session.chat(messages, template, options, collector);
      messages.add(Message.assistant(collector.finish()));
      last = Optional.of(made);
      return made;
    } catch (RuntimeException e) {
      messages.removeLast();
      throw e;
    }
  }

  ModelSession session() {
    return session;
  }

  /** Returns the statistics of the last answer. */
  Optional<Generation> last() {
    return last;
  }
}
