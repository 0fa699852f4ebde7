package dev.kvasir.bench;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.formats.PageFormat;
import dev.kvasir.error.InvalidInputException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A batch of equally long sequences and their attention heads.
 *
 * @param tokens of each sequence, a multiple of the page size
 */
record GpuShape(int batch, int tokens, AttentionShape heads) {
  /** Tokens of a device page. */
  static final int PAGE_TOKENS = 64;

  private static final Pattern TYPED =
      Pattern.compile("(\\d{1,4})x(\\d{1,7}):(\\d{1,3})/(\\d{1,3})x(\\d{1,4})");

  /** Parses {@code 8x32768:32/8x128}. */
  static GpuShape parse(String text) {
    Matcher typed = TYPED.matcher(text);
    if (!typed.matches()) {
      throw new InvalidInputException(
          "--shapes has '%s'; expected BATCHxTOKENS:QUERY_HEADS/KV_HEADSxCHANNELS".formatted(text));
    }
    int[] numbers = new int[5];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = Integer.parseInt(typed.group(i + 1));
    }
    return new GpuShape(
        numbers[0], numbers[1], new AttentionShape(numbers[2], numbers[3], numbers[4]));
  }

  GpuShape {
    if (batch < 1 || tokens < 1 || tokens % PAGE_TOKENS != 0) {
      throw new InvalidInputException(
          "--shapes has %d sequences of %d tokens; expected some, of a multiple of %d"
              .formatted(batch, tokens, PAGE_TOKENS));
    }
    if (heads.kvHeads() < 1
        || heads.queryHeads() < 1
        || heads.queryHeads() % heads.kvHeads() != 0) {
      throw new InvalidInputException(
          "--shapes has %d query heads on %d KV heads; expected a multiple"
              .formatted(heads.queryHeads(), heads.kvHeads()));
    }
  }

  int pages() {
    return tokens / PAGE_TOKENS;
  }

  /** Returns the bytes of all sequences in one layer, as fp16. */
  long fp16Bytes() {
    return batch * pages() * fp16PageBytes();
  }

  /** Returns the bytes of an fp16 page for all KV heads. */
  long fp16PageBytes() {
    return (long) heads.kvHeads() * PageFormat.FP16.pageBytes(heads.headDim());
  }

  /** Returns the bytes of all sequences in one layer. */
  long bytes(GpuKind kind) {
    return batch * pages() * pageBytes(kind);
  }

  /** Returns the bytes of a page for all KV heads. */
  long pageBytes(GpuKind kind) {
    return (long) heads.kvHeads() * kind.pageBytes(heads.headDim());
  }

  @Override
  public String toString() {
    return "%dx%d:%d/%dx%d"
        .formatted(batch, tokens, heads.queryHeads(), heads.kvHeads(), heads.headDim());
  }
}
