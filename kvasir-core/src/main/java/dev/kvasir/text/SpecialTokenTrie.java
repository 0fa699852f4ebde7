package dev.kvasir.text;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * Finds added tokens in a text, the leftmost and longest first. A trie, since some vocabularies
 * have thousands of them that start with "&lt;".
 */
final class SpecialTokenTrie {
  private static final class Node {
    final Map<Character, Node> next = new HashMap<>();
    int id = -1;
  }

  private final Node root = new Node();
  private final BitSet stripsSpace = new BitSet();

  void add(int id, String text) {
    Node node = root;
    for (int i = 0; i < text.length(); i++) {
      node = node.next.computeIfAbsent(text.charAt(i), c -> new Node());
    }
    node.id = id;
  }

  /** Marks a token that removes the white space after it. */
  void stripSpaceAfter(int id) {
    stripsSpace.set(id);
  }

  /** Returns the id of the longest token at the index, or -1. */
  int matchAt(String text, int index) {
    Node node = root.next.get(text.charAt(index));
    int id = -1;
    for (int i = index + 1; node != null; i++) {
      id = node.id >= 0 ? node.id : id;
      node = i < text.length() ? node.next.get(text.charAt(i)) : null;
    }
    return id;
  }

  /** Returns where the text continues after a token that ends at the index. */
  int resume(int id, String text, int end) {
    int resume = end;
    while (stripsSpace.get(id) && resume < text.length() && isSpace(text.charAt(resume))) {
      resume++;
    }
    return resume;
  }

  private static boolean isSpace(char c) {
    return c == ' ' || c >= '\t' && c <= '\r';
  }
}
