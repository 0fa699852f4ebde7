package dev.kvasir.methods.rotatekv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.basis.Hadamard;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.profile.Profile;
import java.util.Arrays;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class RotatekvProfileTest {
  private static final CacheShape SHAPE = new CacheShape(1, 4, 16);

  /** A page of one repeated key sorts its channels as the mean of the text does. */
  @Test
  void theOrderOfTheMeansIsThatOfAPageWithTheseMeans() {
    float[] means = new float[4 * 16];
    SplittableRandom random = new SplittableRandom(3);
    for (int i = 0; i < means.length; i++) {
      means[i] = (float) random.nextDouble(-1, 1);
    }
    float[] keys = new float[4 * 128 * 16];
    for (int head = 0; head < 4; head++) {
      for (int token = 0; token < 128; token++) {
        System.arraycopy(means, head * 16, keys, (head * 128 + token) * 16, 16);
      }
    }
    for (int heads : new int[] {1, 2, 4}) {
      KeyGroups groups = new KeyGroups(4, heads, 16, true, Optional.empty());
      Hadamard hadamard = Hadamard.plain(groups.width());
      short[] ofPage = groups.rotateAndReorder(keys.clone(), 0, hadamard, null);
      int[] ofModel = new RotatekvProfile(means).orders(SHAPE, groups, hadamard)[0];
      assertThat(ofModel).as("%d heads", heads).hasSize(64);
      for (int i = 0; i < 64; i++) {
        assertThat(ofModel[i]).isEqualTo(ofPage[i]);
      }
    }
  }

  @Test
  void pagesWithTheModelsOrderStoreNone() {
    CacheSpec spec = CacheSpec.parse("rotatekv:2,order=calibrated,window=0,sinks=0");
    Profile profile = new SyntheticKeyMeans().addTo(Profile.empty("m"), SHAPE);
    CacheContext context = CacheContext.unknown().withProfile(Optional.of(profile));
    long without =
        CacheSpec.parse("rotatekv:2,order=off,window=0,sinks=0").bytesFor(SHAPE, 128).total();
    assertThat(spec.bytesFor(SHAPE, context, 128).total()).isEqualTo(without);
    assertThat(CacheSpec.parse("rotatekv:2,window=0,sinks=0").bytesFor(SHAPE, 128).total())
        .isEqualTo(without + 2 * 64);
    spec.newCache(SHAPE, context).close();
    assertThat(spec.config().profileParts()).containsExactly(RotatekvProfile.PART);
    assertThatThrownBy(() -> spec.newCache(SHAPE))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("kvasir calibrate --kv rotatekv");
    float[] broken = new float[64];
    Arrays.fill(broken, Float.NaN);
    CacheContext bad =
        CacheContext.unknown()
            .withProfile(Optional.of(new RotatekvProfile(broken).addTo(Profile.empty("m"), SHAPE)));
    assertThatThrownBy(() -> spec.newCache(SHAPE, bad))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("not finite");
  }
}
