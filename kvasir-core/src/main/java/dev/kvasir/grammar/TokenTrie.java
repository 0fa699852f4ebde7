package dev.kvasir.grammar;

import dev.kvasir.text.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.stream.IntStream;

/**
 * A trie of the bytes of all tokens. Nodes are in depth-first order: descendants of a node follow
 * it, up to the end of its subtree. End-of-text tokens and tokens without bytes are excluded.
 *
 * <p>Special tokens have bytes that no text has: 0xFF, their text, 0xFE. A grammar allows them only
 * where it names them.
 */
final class TokenTrie {
  static final int FIRST_PLAIN = ' ';
  static final int LAST_PLAIN = '~';

  /** One trie per tokenizer in use. */
  private static final Map<Tokenizer, TokenTrie> CACHE = new WeakHashMap<>();

  private final int[] tokens; // sorted by their bytes
  private final int[] endTokens; // (end tokens), ascending
  private final int maskWords;
  private final int maxTokenLength;
  private int nodes;
  private byte[] values; // (nodes)
  private int[] depths; // (nodes), 1 for the first byte of a token
  private int[] subtreeEnd; // (nodes), the first node after the subtree
  private int[] firstToken; // (nodes + 1), the first index in tokens with the node's bytes

  /** Nodes whose whole subtree is plain text. */
  private final BitSet plain = new BitSet();

  static TokenTrie of(Tokenizer tokenizer) {
    synchronized (CACHE) {
      return CACHE.computeIfAbsent(tokenizer, TokenTrie::new);
    }
  }

  private TokenTrie(Tokenizer tokenizer) {
    int size = tokenizer.vocabularySize();
    byte[][] bytes = new byte[size][];
    Arrays.setAll(bytes, id -> bytes(tokenizer, id));
    endTokens = tokenizer.endOfText().stream().mapToInt(Integer::intValue).sorted().toArray();
    maskWords =
        (Math.max(size, endTokens.length == 0 ? 0 : endTokens[endTokens.length - 1] + 1) + 63) / 64;
    tokens =
        IntStream.range(0, size)
            .filter(id -> bytes[id].length > 0)
            .filter(id -> tokenizer.isSpecial(id) || !hasFrameByte(bytes[id]))
            .filter(id -> Arrays.binarySearch(endTokens, id) < 0)
            .boxed()
            .sorted(Comparator.comparing(id -> bytes[id], Arrays::compareUnsigned))
            .mapToInt(Integer::intValue)
            .toArray();
    maxTokenLength = IntStream.of(tokens).map(id -> bytes[id].length).max().orElse(0);
    build(bytes);
    findPlain();
  }

  /** Returns the bytes by which a grammar knows a token. */
  static byte[] bytes(Tokenizer tokenizer, int id) {
    byte[] text = tokenizer.tokenBytes(id);
    return text.length > 0 && tokenizer.isSpecial(id) ? framed(text) : text;
  }

  /** Returns whether a token could spell a special one; no UTF-8 has these bytes. */
  private static boolean hasFrameByte(byte[] bytes) {
    for (byte value : bytes) {
      if ((value & 0xFE) == 0xFE) {
        return true;
      }
    }
    return false;
  }

  /** Returns the bytes of the special token with this text. */
  static byte[] specialBytes(String token) {
    return framed(token.getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] framed(byte[] text) {
    byte[] framed = new byte[text.length + 2];
    framed[0] = (byte) 0xFF;
    System.arraycopy(text, 0, framed, 1, text.length);
    framed[text.length + 1] = (byte) 0xFE;
    return framed;
  }

  /**
   * Printable ASCII without special meaning in a JSON string, which is most of most vocabularies.
   */
  static boolean isPlain(int value) {
    return value >= FIRST_PLAIN && value <= LAST_PLAIN && value != '"' && value != '\\';
  }

  private void build(byte[][] bytes) {
    int maxNodes = IntStream.of(tokens).map(id -> bytes[id].length).sum();
    values = new byte[maxNodes];
    depths = new int[maxNodes];
    subtreeEnd = new int[maxNodes];
    firstToken = new int[maxNodes + 1];
    int[] open = new int[maxTokenLength]; // the path of nodes to the last token
    byte[] before = {};
    for (int t = 0; t < tokens.length; t++) {
      byte[] token = bytes[tokens[t]];
      int mismatch = Arrays.mismatch(before, token);
      int common = mismatch < 0 ? token.length : mismatch;
      close(open, common, before.length);
      for (int depth = common; depth < token.length; depth++) {
        values[nodes] = token[depth];
        depths[nodes] = depth + 1;
        firstToken[nodes] = t;
        open[depth] = nodes++;
      }
      before = token;
    }
    close(open, 0, before.length);
    firstToken[nodes] = tokens.length;
    values = Arrays.copyOf(values, nodes);
    depths = Arrays.copyOf(depths, nodes);
    subtreeEnd = Arrays.copyOf(subtreeEnd, nodes);
    firstToken = Arrays.copyOf(firstToken, nodes + 1);
  }

  private void close(int[] open, int from, int to) {
    for (int depth = from; depth < to; depth++) {
      subtreeEnd[open[depth]] = nodes;
    }
  }

  private void findPlain() {
    for (int node = nodes - 1; node >= 0; node--) {
      boolean allPlain = isPlain(values[node]);
      for (int child = node + 1; allPlain && child < subtreeEnd[node]; child = subtreeEnd[child]) {
        allPlain = plain.get(child);
      }
      plain.set(node, allPlain);
    }
  }

  boolean hasEndTokens() {
    return endTokens.length > 0;
  }

  boolean isEndToken(int token) {
    return Arrays.binarySearch(endTokens, token) >= 0;
  }

  /** Returns one bit per allowed token; end-of-text tokens are allowed where the text may end. */
  long[] allowed(ParserStates states, ParserState from) {
    long[] allowed = new long[maskWords];
    ParserState[] path = new ParserState[maxTokenLength + 1];
    path[0] = from;
    boolean any = false;
    for (int node = 0; node < nodes; ) {
      ParserState before = path[depths[node] - 1];
      if (plain.get(node) && states.staysInPlainText(before)) {
        any |= setTokens(allowed, node, subtreeEnd[node]);
        node = subtreeEnd[node];
        continue;
      }
      ParserState next = states.advance(before, values[node] & 0xFF);
      if (next.isDead) {
        node = subtreeEnd[node];
        continue;
      }
      path[depths[node]] = next;
      any |= setTokens(allowed, node, node + 1);
      node++;
    }
    if (from.isAccepting() || !any) {
      for (int end : endTokens) {
        allowed[end >> 6] |= 1L << end;
      }
    }
    return allowed;
  }

  /** Tokens are in the order of their nodes, a node's own before those of its descendants. */
  private boolean setTokens(long[] allowed, int from, int to) {
    for (int t = firstToken[from]; t < firstToken[to]; t++) {
      allowed[tokens[t] >> 6] |= 1L << tokens[t];
    }
    return firstToken[to] > firstToken[from];
  }
}
