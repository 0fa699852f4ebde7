package dev.kvasir.text;

import java.util.PriorityQueue;

/**
 * One SentencePiece merge. The text starts as single characters in a linked list. Of all adjacent
 * pairs that form a piece, the highest score merges first, the leftmost in a tie, until no pair is
 * left.
 */
final class SentencePieceMerge {
  private record Pair(float score, int left, int right, int length) implements Comparable<Pair> {
    @Override
    public int compareTo(Pair other) {
      int byScore = Float.compare(other.score, score);
      return byScore != 0 ? byScore : Integer.compare(left, other.left);
    }
  }

  private final SentencePieceEncoder pieces;
  private final String text;
  private final int[] start; // (symbols), index of the first char
  private final int[] length; // (symbols), 0 after a merge into the left neighbour
  private final int[] previous; // (symbols), -1 at the ends
  private final int[] next;
  private final int symbols;
  private final PriorityQueue<Pair> pairs = new PriorityQueue<>();

  SentencePieceMerge(SentencePieceEncoder pieces, String text) {
    this.pieces = pieces;
    this.text = text;
    this.start = new int[text.length()];
    this.length = new int[text.length()];
    this.previous = new int[text.length()];
    this.next = new int[text.length()];
    int count = 0;
    for (int at = 0; at < text.length(); at += length[count++]) {
      start[count] = at;
      length[count] = Character.charCount(text.codePointAt(at));
      previous[count] = count - 1;
      next[count] = count + 1;
    }
    this.symbols = count;
    if (count > 0) {
      next[count - 1] = -1;
    }
  }

  void run(IdList ids) {
    for (int right = 1; right < symbols; right++) {
      offer(right - 1, right);
    }
    for (Pair pair = pairs.poll(); pair != null; pair = pairs.poll()) {
      int left = pair.left;
      int right = pair.right;
      boolean stale =
          length[left] == 0 || length[right] == 0 || length[left] + length[right] != pair.length;
      if (!stale) {
        length[left] = pair.length;
        length[right] = 0;
        next[left] = next[right];
        if (next[left] >= 0) {
          previous[next[left]] = left;
        }
        offer(previous[left], left);
        offer(left, next[left]);
      }
    }
    for (int symbol = symbols == 0 ? -1 : 0; symbol >= 0; symbol = next[symbol]) {
      pieces.append(text.substring(start[symbol], start[symbol] + length[symbol]), ids);
    }
  }

  private void offer(int left, int right) {
    if (left < 0 || right < 0) {
      return;
    }
    int together = length[left] + length[right];
    if (together <= pieces.maxPieceLength()) {
      int id = pieces.id(text.substring(start[left], start[left] + together));
      if (id >= 0) {
        pairs.add(new Pair(pieces.score(id), left, right, together));
      }
    }
  }
}
