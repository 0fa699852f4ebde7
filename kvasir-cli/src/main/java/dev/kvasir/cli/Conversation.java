package dev.kvasir.cli;

import dev.kvasir.GenerateOptions;
import dev.kvasir.Generation;
import dev.kvasir.GenerationListener;
import dev.kvasir.Session;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Message;
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
      StringBuilder said = new StringBuilder();
      Generation made = session.chat(messages, template, options, listener(printer, said));
      messages.add(Message.assistant(said.toString()));
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

  private GenerationListener listener(AnswerPrinter printer, StringBuilder said) {
    StopText stop = stopPhrase.map(StopText::new).orElse(null);
    return new GenerationListener() {
      @Override
      public void prompt(int tokensDone, int tokensInAll) {
        printer.prompt(tokensDone, tokensInAll);
      }

      @Override
      public void text(String piece) {
        String shown = stop == null ? piece : stop.push(piece);
        said.append(shown);
        if (!shown.isEmpty()) {
          printer.text(shown);
        }
      }

      @Override
      public boolean stopped() {
        return printer.stopped() || (stop != null && stop.found());
      }
    };
  }
}
