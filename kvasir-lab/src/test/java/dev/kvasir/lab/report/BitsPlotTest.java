package dev.kvasir.lab.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.mead.MeadBitAllocation;
import dev.kvasir.error.InvalidInputException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

class BitsPlotTest {
  private static final int[] CLASSES = {64, 48, 16};

  @Test
  void headsHaveCellsForKeysAndValuesAndTiersHaveBars() throws Exception {
    Document picture = Pictures.parsed(new BitsPlot("mead:1.5", shares(4, 2)).svg());
    assertThat(Pictures.texts(picture))
        .contains("Where the bits of mead:1.5 go", "head 0", "head 1")
        .contains("known from the tokens: no codes")
        .contains("64 tokens", "48 tokens", "16 tokens", "channels that are coded, of 64");
    // One layer without codes, three with four cells, two charts of six bars.
    assertThat(Pictures.all(picture, "rect")).hasSize(1 + 3 * 4 + 2 * 6);
    // Keys of layer 2 and head 1: 64 * (64 + 16) bits in tier 0, and 64 more in each of the others.
    assertThat(Pictures.texts(picture)).contains("1.88");
  }

  @Test
  void manyLayersAndHeadsFitThePicture() throws Exception {
    Document picture = Pictures.parsed(new BitsPlot("mead:2", shares(80, 16)).svg());
    String[] box = picture.getDocumentElement().getAttribute("viewBox").split(" ");
    List<Element> cells = Pictures.all(picture, "rect");
    assertThat(cells).hasSizeGreaterThan(79 * 32);
    for (Element cell : cells) {
      assertThat(Pictures.number(cell, "x") + Pictures.number(cell, "width"))
          .isLessThanOrEqualTo(Double.parseDouble(box[2]));
      assertThat(Pictures.number(cell, "y") + Pictures.number(cell, "height"))
          .isLessThanOrEqualTo(Double.parseDouble(box[3]));
    }
  }

  @Test
  void cacheWithoutBitsByHeadIsRejected() {
    assertThatThrownBy(
            () ->
                BitsPlot.of(
                    CacheSpec.parse("kivi:2"), new CacheShape(4, 2, 64), CacheContext.unknown()))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("the cache 'kivi:2' has no bits by head; expected mead with a profile");
  }

  /** The first layer has no codes; in the others, each tier has a bit more than the one before. */
  private static MeadBitAllocation shares(int layers, int kvHeads) {
    List<MeadBitAllocation.Row> rows = new ArrayList<>();
    for (int layer = 1; layer < layers; layer++) {
      for (int head = 0; head < kvHeads; head++) {
        for (int c = 0; c < CLASSES.length; c++) {
          int bits = 64 * c + 8 * layer;
          rows.add(
              new MeadBitAllocation.Row(layer, head, true, CLASSES[c], 64, 60, bits + 64 * head));
          rows.add(new MeadBitAllocation.Row(layer, head, false, CLASSES[c], 64, 30, bits));
        }
      }
    }
    return new MeadBitAllocation(layers, kvHeads, rows);
  }
}
