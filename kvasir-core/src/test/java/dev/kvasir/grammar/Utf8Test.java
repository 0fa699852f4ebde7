package dev.kvasir.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class Utf8Test {
  @Property(tries = 200, seed = "8")
  void aRangeIsTheBytesOfItsCharacters(@ForAll long seed) {
    Random random = new Random(seed);
    int a = random.nextInt(1 << 7 + random.nextInt(14)) % 0x110000;
    int b = random.nextInt(1 << 7 + random.nextInt(14)) % 0x110000;
    CodePoints points = CodePoints.range(Math.min(a, b), Math.max(a, b));
    if (points.isEmpty()) {
      return; // only surrogates
    }
    AcceptedTexts texts = AcceptedTexts.of(new Grammar(JsonExpressions.characterClass(points)));
    IntStream near = IntStream.of(a - 1, a, a + 1, b - 1, b, b + 1);
    IntStream.concat(near, random.ints(200, 0, 0x110000))
        .filter(c -> c >= 0 && c <= Character.MAX_CODE_POINT)
        .filter(c -> c < Character.MIN_SURROGATE || c > Character.MAX_SURROGATE)
        .forEach(
            c ->
                assertThat(texts.contains(Character.toString(c)))
                    .as("%x in %s", c, points)
                    .isEqualTo(points.contains(c)));
  }

  @Test
  void allCharactersAreAllBytesThatAreUtf8() {
    AcceptedTexts texts =
        AcceptedTexts.of(new Grammar(JsonExpressions.characterClass(CodePoints.ALL)));
    Random random = new Random(9);
    for (int i = 0; i < 200_000; i++) {
      byte[] bytes = new byte[1 + random.nextInt(4)];
      for (int at = 0; at < bytes.length; at++) {
        bytes[at] = (byte) (at == 0 ? random.nextInt(256) : 0x80 | random.nextInt(80));
      }
      String decoded = new String(bytes, StandardCharsets.UTF_8);
      boolean isCharacter =
          decoded.codePointCount(0, decoded.length()) == 1 && !decoded.equals("\uFFFD");
      if (!decoded.equals("\uFFFD") || !texts.contains(bytes)) {
        assertThat(texts.contains(bytes))
            .as("%s", java.util.HexFormat.of().formatHex(bytes))
            .isEqualTo(isCharacter);
      }
    }
  }

  @Test
  void setOperationsMatchTheirDefinition() {
    CodePoints letters = CodePoints.range('a', 'f').or(CodePoints.range('d', 'k'));
    assertThat(letters.ranges()).containsExactly(new CodePoints.Range('a', 'k'));
    assertThat(letters.minus(CodePoints.of("cd")).ranges())
        .containsExactly(new CodePoints.Range('a', 'b'), new CodePoints.Range('e', 'k'));
    assertThat(CodePoints.NONE.not()).isEqualTo(CodePoints.ALL);
    assertThat(CodePoints.ALL.not().isEmpty()).isTrue();
    assertThat(CodePoints.range(0xD800, 0xDFFF).isEmpty()).isTrue();
  }
}
