package dev.kvasir.lab.answer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class OverlapTest {
  @Test
  void wordsCountWithoutCaseArticlesAndPunctuation() {
    assertThat(Words.ENGLISH.of("The Blue  boat, a boat!")).containsExactly("blue", "boat", "boat");
    assertThat(TokenF1.of(Words.ENGLISH, "The blue boat.", "blue boat")).isEqualTo(1);
  }

  /** Two of three given words are among four expected: P = 2/3, R = 1/2, F1 = 4/7. */
  @Test
  void f1IsTheHarmonicMean() {
    assertThat(TokenF1.of(Words.ENGLISH, "red boat sails", "red boat of Mira"))
        .isCloseTo(4.0 / 7, within(1e-12));
    assertThat(TokenF1.of(Words.ENGLISH, "", "boat")).isZero();
    assertThat(TokenF1.of(Words.ENGLISH, "boat boat", "boat")).isCloseTo(2.0 / 3, within(1e-12));
  }

  /** Three of the four characters of each side are shared: F1 = 3/4. */
  @Test
  void chineseIsComparedByCharacters() {
    assertThat(Words.CHINESE.of("王小林, GPU 3号")).containsExactly("王", "小", "林", "gpu", "3", "号");
    assertThat(TokenF1.of(Words.CHINESE, "北桥石匠。", "北桥石头")).isCloseTo(0.75, within(1e-12));
  }

  /** The common subsequence of a b c d and b d e is b d: P = 1/2, R = 2/3, F1 = 4/7. */
  @Test
  void rougeKeepsTheOrder() {
    assertThat(RougeL.of(Words.PLAIN, "a b c d", "b d e")).isCloseTo(4.0 / 7, within(1e-12));
    assertThat(RougeL.of(Words.PLAIN, "d b", "b d")).isCloseTo(0.5, within(1e-12));
    assertThat(RougeL.of(Words.PLAIN, "", "b")).isZero();
  }

  /** "abcd" becomes "abxd" by one deletion and one insertion: 1 - 2/8. */
  @Test
  void codeIsComparedByEdits() {
    assertThat(EditSimilarity.of("abcd", "abxd")).isCloseTo(0.75, within(1e-12));
    assertThat(EditSimilarity.of("", "")).isEqualTo(1);
    assertThat(EditSimilarity.ofFirstLine("```python\n# area\nreturn x\nreturn y", "return x"))
        .isEqualTo(1);
    assertThat(EditSimilarity.ofFirstLine("", "return x")).isZero();
  }

  @Test
  void classesShareTheirPoint() {
    List<String> classes = List.of("person", "place", "date", "birth date");
    assertThat(ClassMatch.of("It is a date.", "date", classes)).isEqualTo(1);
    assertThat(ClassMatch.of("place or date", "date", classes)).isEqualTo(0.5);
    assertThat(ClassMatch.of("birth date", "birth date", classes)).isEqualTo(1);
    assertThat(ClassMatch.of("person", "date", classes)).isZero();
  }

  @Test
  void numbersShareTheirPoint() {
    assertThat(NumberShare.of("There are 7, not 8, so 7.", "7")).isCloseTo(2.0 / 3, within(1e-12));
    assertThat(NumberShare.of("seven", "7")).isZero();
    assertThat(NumberShare.ofParagraph("Paragraph 12", "Paragraph 12")).isEqualTo(1);
    assertThat(NumberShare.ofParagraph("段落3", "段落12")).isZero();
  }
}
