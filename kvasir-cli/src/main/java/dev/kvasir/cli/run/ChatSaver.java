package dev.kvasir.cli.run;

import dev.kvasir.cli.session.SessionEntry;
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
 * Saves a named conversation after every message: first its messages, then its KV cache. Each file
 * is written atomically and the messages are authoritative, so a crash in between only costs a
 * prefill.
 */
final class ChatSaver {
  private final SessionFolder folder;
  private final Streams streams;
  private SessionEntry entry; // null until named

  ChatSaver(SessionFolder folder, Streams streams) {
    this.folder = folder;
    this.streams = streams;
  }

  /** Returns the location of a conversation to resume or to start under this name. */
  SessionLocation resume(SessionName name, RunArguments run) {
    folder.create();
    entry = folder.of(name);
    return SessionLocation.at(entry.file(), run);
  }

  /** Prints what is there of a conversation that is resumed. */
  void reportResumed() {
    if (entry == null) {
      return;
    }
    String name = entry.name();
    if (!entry.exists()) {
      streams.note("'%s' is new, and kept in %s".formatted(name, folder.path()));
    } else if (!Files.exists(entry.file())) {
      streams.note("of '%s' the messages alone are kept; they are read again".formatted(name));
    }
  }

  /** Returns the saved messages; empty if there are none. */
  List<Message> messages() {
    boolean isSaved = entry != null && entry.exists();
    return isSaved ? Transcript.read(entry.messages()).messages() : List.of();
  }

  /** Names the conversation; the name must be unused. */
  void name(String typed, Conversation conversation) {
    try {
      SessionEntry wanted = folder.of(new SessionName(typed));
      if (wanted.exists() && !wanted.equals(entry)) {
        streams.note("'%s' is the name of another conversation; choose a new one".formatted(typed));
        return;
      }
      folder.create();
      entry = wanted;
      save(conversation);
      reportSaved(conversation);
    } catch (InvalidInputException e) {
      streams.note(e.getMessage());
    }
  }

  /** Saves the conversation. A failure is reported, and the chat continues. */
  void save(Conversation conversation) {
    if (entry == null) {
      return;
    }
    try {
      conversation.transcript().write(entry.messages());
      conversation.session().save(entry.file());
    } catch (InvalidInputException e) {
      streams.note("this turn is not kept: " + e.getMessage());
    }
  }

  /** Prints where the conversation is saved, if it is. */
  void reportSaved(Conversation conversation) {
    if (entry != null && entry.exists()) {
      streams.note(
          "kept as '%s', %s; kvasir chat --resume %s goes on"
              .formatted(
                  entry.name(), Units.tokens(conversation.session().length()), entry.name()));
    }
  }
}
