package dev.kvasir.cuda.formats.mead;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.mead.TableKind;
import dev.kvasir.kernel.KernelChoice;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Device pages hold the numbers that the host dequantizes. */
class PlainBlockTest {
  @ParameterizedTest
  @CsvSource({
    "mead:1.5, OFF, 64, 0",
    "'mead:3,first=coded', OFF, 128, 16",
    "'mead:6,first=coded,means=off', OFF, 64, 5",
    "mead:2, CENTROIDS, 128, 0",
    "'mead:2,first=coded', TOKENS, 64, 16",
    "mead:8, TOKENS, 128, 16"
  })
  void numbersAreThoseOfTheHost(String spec, TableKind kind, int headDim, int sinks) {
    MeadBlocks blocks = new MeadBlocks(spec, kind, 2, 2, headDim, sinks);
    PageWorkspace workspace = new PageWorkspace(KernelChoice.ofThisProcess().kernels());
    for (int i = 0; i < 2; i++) {
      MeadBlocks.Block block = blocks.add();
      MemorySegment[] pages = blocks.pages(block);
      PlainBlock plain = new PlainBlock(blocks.model, pages[0], pages[1]);
      int numbers = MeadBlocks.TOKENS * headDim;
      for (int layer = 0; layer < 2; layer++) {
        for (int kvHead = 0; kvHead < 2; kvHead++) {
          float[] keys = new float[numbers];
          float[] values = new float[numbers];
          plain.read(layer, kvHead, keys, values);
          float[] hostKeys = new float[numbers];
          float[] hostValues = new float[numbers];
          var page = block.host().get(layer).page();
          page.dequantizeKeys(workspace, kvHead, MeadBlocks.TOKENS, hostKeys);
          page.dequantizeValues(workspace, kvHead, MeadBlocks.TOKENS, hostValues);
          assertThat(mostDifferent(keys, hostKeys)).isLessThan(2e-4f);
          assertThat(mostDifferent(values, hostValues)).isLessThan(2e-4f);
        }
      }
    }
  }

  private static float mostDifferent(float[] found, float[] wanted) {
    float most = 0;
    for (int i = 0; i < wanted.length; i++) {
      most = Math.max(most, Math.abs(found[i] - wanted[i]));
    }
    return most;
  }
}
