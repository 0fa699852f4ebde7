package dev.kvasir.text;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.BitSet;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TextStreamTest {
  /** Ids 0 to 255 are the bytes, 256 is a word, 257 a special token. */
  private static final Vocabulary VOCABULARY = vocabulary();

  private static Vocabulary vocabulary() {
    String[] texts = new String[258];
    for (int value = 0; value < 256; value++) {
      texts[value] = "<0x%02X>".formatted(value);
    }
    texts[256] = "\u2581word";
    texts[257] = "<|im_end|>";
    BitSet special = new BitSet();
    special.set(257);
    return new Vocabulary(texts, TokenEncoding.SENTENCE_PIECE, special, special);
  }

  @Test
  void aCharacterAppearsWithItsLastByte() {
    TextStream stream = new TextStream(VOCABULARY, false);
    assertThat(stream.push(0xF0)).isEmpty();
    assertThat(stream.push(0x9F)).isEmpty();
    assertThat(stream.push(0x98)).isEmpty();
    assertThat(stream.push(0x80)).isEqualTo("\uD83D\uDE00");
    assertThat(stream.finish()).isEmpty();
  }

  @Test
  void anIncompleteCharacterIsReplacedAfterTheNextToken() {
    TextStream stream = new TextStream(VOCABULARY, false);
    assertThat(stream.push(0xE2)).isEmpty();
    assertThat(stream.push(0x96)).isEmpty();
    assertThat(stream.push('x')).isEqualTo("\uFFFDx");
    assertThat(stream.push(0xC3)).isEmpty();
    assertThat(stream.finish()).isEqualTo("\uFFFD");
    assertThat(stream.finish()).isEmpty();
  }

  @Test
  void aLeadingSpaceIsKept() {
    assertThat(new TextStream(VOCABULARY, false).push(256)).isEqualTo(" word");
  }

  @Test
  void specialTokensAreKeptOrSkipped() {
    assertThat(new TextStream(VOCABULARY, false).push(257)).isEqualTo("<|im_end|>");
    assertThat(new TextStream(VOCABULARY, true).push(257)).isEmpty();
    assertThat(new TextStream(VOCABULARY, true, Set.of(257)).push(257)).isEqualTo("<|im_end|>");
  }

  @Test
  void aPushAllocatesLittleMoreThanItsString() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    TextStream stream = new TextStream(VOCABULARY, false);
    int pushes = 100_000;
    long before = threads.getCurrentThreadAllocatedBytes();
    int characters = IntStream.range(0, pushes).map(i -> stream.push(256).length()).sum();
    long bytesPerPush = (threads.getCurrentThreadAllocatedBytes() - before) / pushes;
    assertThat(characters).isEqualTo(5 * pushes);
    assertThat(bytesPerPush).isLessThan(100);
  }
}
