package dev.kvasir.chat.syntax;

/** Reads a part of a tool call, one character at a time. A reader is used once. */
@FunctionalInterface
interface Reader {
  Step accept(char c);
}
