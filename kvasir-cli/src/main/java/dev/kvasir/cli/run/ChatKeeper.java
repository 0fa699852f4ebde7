package dev.kvasir.cli.run;

import dev.kvasir.cli.session.KeptSession;
import dev.kvasir.cli.session.SessionFolder;
import dev.kvasir.cli.session.SessionName;
import dev.kvasir.cli.session.Transcript;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.text.Message;
import java.nio.file.Files;
import java.util.List;

/**
 * Keeps a conversation under a name, after every turn: its messages, then what the model remembers
 * of them. Each file is written whole, and messages are what counts, so a process that is killed
 * between the two loses time alone.
 */
final class ChatKeeper {
  private final SessionFolder folder;
  private final Streams streams;
  private KeptSession kept; // null while it has no name

  ChatKeeper(SessionFolder folder, Streams streams) {
    this.folder = folder;
    this.streams = streams;
  }

  /** The place of a conversation that is to be gone on with, or begun under this name. */
  SessionPlace resume(SessionName name, RunArguments run) {
    folder.create();
    kept = folder.of(name);
    if (!kept.exists()) {
      streams.note("'%s' is new, and kept in %s".formatted(name, folder.path()));
    } else if (!Files.exists(kept.file())) {
      streams.note("of '%s' the messages alone are kept; they are read again".formatted(name));
    }
    return SessionPlace.at(kept.file(), run);
  }

  /** What has been said under the name; empty where nothing has. */
  List<Message> messages() {
    boolean isKept = kept != null && kept.exists();
    return isKept ? Transcript.read(kept.messages()).messages() : List.of();
  }

  /** Gives a conversation a name that no other has. */
  void name(String typed, Conversation conversation) {
    try {
      KeptSession wanted = folder.of(new SessionName(typed));
      if (wanted.exists() && !wanted.equals(kept)) {
        streams.note("'%s' is the name of another conversation; choose a new one".formatted(typed));
        return;
      }
      folder.create();
      kept = wanted;
      keep(conversation);
      tell(conversation);
    } catch (InvalidInputException e) {
      streams.note(e.getMessage());
    }
  }

  /** What cannot be written is told, and the conversation goes on. */
  void keep(Conversation conversation) {
    if (kept == null) {
      return;
    }
    try {
      conversation.transcript().write(kept.messages());
      conversation.session().save(kept.file());
    } catch (InvalidInputException e) {
      streams.note("this turn is not kept: " + e.getMessage());
    }
  }

  /** Says where the conversation is kept, if it is. */
  void tell(Conversation conversation) {
    if (kept != null && kept.exists()) {
      streams.note(
          "kept as '%s', %s; kvasir chat --resume %s goes on"
              .formatted(kept.name(), Units.tokens(conversation.session().length()), kept.name()));
    }
  }
}
