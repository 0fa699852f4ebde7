package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.SessionOptions;
import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.ValueOrigin;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.profile.Profile;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CacheSpecTest {
  private static final CacheShape SHAPE = new CacheShape(1, 1, 64);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "qivi            | 'qivi' is unknown; did you mean 'kivi'?",
        "cache           | 'cache' is unknown; known are fp16, bf16, fp32, kivi:BITS,"
            + " patternkv:BITS, mixkvq, pmkvq:BITS",
        "''              | '' is unknown; known are",
        "q8_0            | 'q8_0' is unknown; the nearest here is 'kivi:8'",
        "fp8             | 'fp8' is unknown; the nearest here is 'kivi:8'",
        "q4_0:4          | 'q4_0' is unknown; the nearest here is 'kivi:4'",
        "f16             | 'f16' is unknown; the nearest here is 'fp16'",
        "fp16:4          | 'fp16' takes no bits and no keys",
        "fp16,group=32   | 'fp16' takes no bits and no keys",
        "kivi            | needs its bits, as in kivi:4; possible are 1, 2, 3, 4, 8",
        "kivi:5          | bits is 5; possible are 1, 2, 3, 4, 8",
        "kivi:two        | bits is 'two'; expected a whole number",
        "kivi:2,         | '' is no key=value of kivi; its keys are group, k, operands, sinks,"
            + " v, widths, window",
        "kivi:2,widths=layers | widths is 'layers'; possible are same, profile",
        "kivi:2,operands=16 | operands is 16; possible are 8, 15",
        "kivi:2,lookup=slow | lookup is 'slow'; possible are exact, fast",
        "kivi:2,lookup=fast,operands=8 | 'operands' is given twice",
        "kivi:2,group    | 'group' has no value; expected group=VALUE",
        "kivi:2,grp=32   | 'grp=32' is no key=value of kivi",
        "kivi:2,group=48 | group is 48; possible are 32, 64, 128",
        "kivi:2,k=4,k=2  | 'k' is given twice",
        "kivi:2,window=-1| window is -1; expected 0 to 1048576",
        "kivi:2,sinks=x  | sinks is 'x'; expected a whole number",
        "kivi:2,patterns=4 | 'patterns=4' is no key=value of kivi",
        "kivi:2,rotary=4 | rotary is 4; possible are 8, 16",
        "kivi:2,rotary   | 'rotary' is no key=value of kivi",
        "patternkv       | needs its bits, as in patternkv:4; possible are 1, 2, 3, 4, 8",
        "patternkv:2,patterns=0 | patterns is 0; expected 1 to 255",
        "patternkv:2,patterns=256 | patterns is 256; expected 1 to 255",
        "patternkv:2,alpha=0 | alpha is 0; expected more than 0, up to 0.5",
        "patternkv:2,alpha=0.6 | alpha is 0.6; expected more than 0, up to 0.5",
        "patternkv:2,alpha=NaN | alpha is NaN; expected more than 0, up to 0.5",
        "patternkv:2,alpha=few | alpha is 'few'; expected a number",
        "patternkv:2,rope=turn | rope is 'turn'; possible are static, rotate",
        "patternkv:2,v-threshold=no | v-threshold is 'no'; possible are on, off",
        "pmkvq           | needs its bits, as in pmkvq:4; possible are 2, 4, 8",
        "pmkvq:3         | bits is 3; possible are 2, 4, 8",
        "pmkvq:2,budget=512 | budget is '512'; expected bytes, as in 512MiB or 2GiB, bits per"
            + " value, as in 4bits, or pool",
        "pmkvq:2,budget=-1MiB | budget is '-1MiB'; expected bytes",
        "pmkvq:2,budget=1025GiB | budget is 1025GiB; expected at most 1024GiB",
        "pmkvq:2,shift=left | shift is 'left'; possible are equivalent, direct, modified",
        "pmkvq:2,group=32 | 'group=32' is no key=value of pmkvq; its keys are born, budget,"
            + " keys, operands, shift, shrink, sinks, smoothing, widths, window",
        "pmkvq:2,keys=head | keys is 'head'; possible are token, channel",
        "pmkvq:2,smoothing=on | smoothing=on is for keys=token",
        "pmkvq:2,shrink=all | shrink is 'all'; possible are layer, page",
        "patternkv:2,as=ours | as is 'ours'; possible are paper",
        "patternkv:2,as | as is ''; possible are paper",
        "fp16,as=paper | 'fp16' has no settings for as=paper; those of [kivi, patternkv, mixkvq,"
            + " pmkvq, commvq] are known",
        "kivi:2,prefill=late | prefill is 'late'; possible are chunked, exact",
        "mixkvq,residual=48 | residual is 48; possible are 32, 64, 96, 128, 256, 384, 512",
        "mixkvq,residual=32,group=64 | group is 64; expected a divisor of the residual 32",
        "mixkvq,tiers=page | tiers is 'page'; possible are residual, prompt",
        "patternkv:2,pattern=4 | 'pattern=4' is no key=value of patternkv; did you mean 'patterns'?"
      })
  void aBadSpecNamesWhatIsWrong(String spec, String sentence) {
    assertThatThrownBy(() -> CacheSpec.parse(spec))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageStartingWith("the cache '" + spec + "': ")
        .hasMessageContaining(sentence);
  }

  @Test
  void olderNamesOfKeysKeepWorking() {
    SpecText old = new SpecText("kivi:4,lookup=fast,stored=2@4096");
    assertThat(old.value("operands")).isEqualTo("8");
    assertThat(old.value("cold")).isEqualTo("2@4096");
    assertThat(new SpecText("kivi:4,lookup=exact").value("operands")).isEqualTo("15");
    assertThat(CacheSpec.parse("kivi:4,lookup=fast,stored=2@4096").text())
        .as("saved sessions are found by their text")
        .isEqualTo("kivi:4,lookup=fast,stored=2@4096");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "kivi:2,as=paper | kivi:2,group=32,sinks=0,window=0,prefill=exact",
        "patternkv:2,as=paper"
            + " | patternkv:2,patterns=32,rope=static,group=128,sinks=0,window=0,prefill=exact",
        "patternkv,k=4,as=paper,v=2,sinks=16,choice=peaks"
            + " | patternkv,patterns=32,rope=static,group=128,sinks=16,window=0,prefill=exact,"
            + "k=4,v=2,choice=peaks",
        "mixkvq,as=paper,prefill=chunked"
            + " | mixkvq,group=32,residual=128,tiers=prompt,sinks=32,window=0,prefill=chunked",
        "pmkvq:4,as=paper,budget=1MiB"
            + " | pmkvq:4,keys=token,shrink=layer,born=wide,shift=equivalent,sinks=1,window=128,"
            + "prefill=exact,budget=1MiB",
        "commvq:1,beam=4,as=paper | commvq:1,beam=4,sinks=0,window=128,prefill=exact"
      })
  void asPaperStandsForSettingsThatOthersOverride(String typed, String settings) {
    CacheSpec spec = CacheSpec.parse(typed);
    assertThat(spec.text()).isEqualTo(settings);
    assertThat(spec).isEqualTo(CacheSpec.parse(settings)).hasToString(settings);
    assertThat(CacheSpec.expanded(typed)).isEqualTo(settings);
    assertThat(CacheSpec.expanded(settings)).isEqualTo(settings);
  }

  @Test
  void aPromptIsQuantizedAsTheSpecSaysUnlessTheSessionDecides() {
    CacheSpec exact = CacheSpec.parse("kivi:2,prefill=exact");
    SessionOptions.Builder options = SessionOptions.builder().cache(exact);
    assertThat(options.build().prefill()).isEqualTo(Prefill.EXACT);
    assertThat(options.prefill(Prefill.CHUNKED).build().prefill()).isEqualTo(Prefill.CHUNKED);
    assertThat(SessionOptions.builder().cache("kivi:2").build().prefill())
        .isEqualTo(Prefill.CHUNKED);
    assertThat(exact.withPrefill(Prefill.EXACT)).isSameAs(exact);
    assertThat(exact.withPrefill(Prefill.CHUNKED).text()).isEqualTo("kivi:2,prefill=chunked");
    try (KvCache cache = exact.newCache(SHAPE);
        KvCache chunked = CacheSpec.parse("kivi:2").newCache(SHAPE)) {
      assertThat(cache.defersPrompts()).isTrue();
      assertThat(chunked.defersPrompts()).isFalse();
    }
  }

  @Test
  void keysOverrideTheBits() {
    CacheBytes both = CacheSpec.parse("kivi:2,k=4,window=0").bytesFor(SHAPE, 128);
    CacheBytes apart = CacheSpec.parse("kivi,k=4,v=2,window=0").bytesFor(SHAPE, 128);
    assertThat(both).isEqualTo(apart);
    assertThat(both.codes()).isEqualTo(128 * 64 * (4 + 2) / 8);
  }

  /** Two bits and a scale and a zero of 16 bits for 32 values are 3 bits; for 128 they are 2.25. */
  @Test
  void bitsAreAllIn() {
    CacheShape shape = new CacheShape(1, 1, 128);
    int tokens = 1280;
    long values = tokens * shape.valuesPerToken();
    CacheBytes small = CacheSpec.parse("kivi:2,group=32,window=0").bytesFor(shape, tokens);
    assertThat(8.0 * small.total() / values).isEqualTo(3.0);
    CacheBytes large = CacheSpec.parse("kivi:2,window=0").bytesFor(shape, tokens);
    assertThat(8.0 * large.total() / values).isEqualTo(2.25);
  }

  @Test
  void layersMayHaveTheWidthsOfAProfile() {
    CacheShape shape = new CacheShape(3, 1, 64);
    CacheSpec spec = CacheSpec.parse("kivi:2,widths=profile,window=0");
    Profile profile = Profile.empty("m").with("layers/widths", new float[] {2, 8, 4}, 3);
    CacheContext context = CacheContext.unknown().withProfile(Optional.of(profile));
    CacheBytes bytes = spec.bytesFor(shape, context, 128);
    assertThat(bytes.codes()).isEqualTo(2 * 128 * 64 * (2 + 8 + 4) / 8);
    try (KvCache cache = spec.newCache(shape, context)) {
      cache.reserve(128);
      for (int layer = 0; layer < 3; layer++) {
        for (int position = 0; position < 128; position++) {
          cache.append(layer, position, new float[64], 0, new float[64], 0);
        }
      }
      cache.advance(128);
      assertThat(cache.bytes()).isEqualTo(bytes);
    }
    assertThatThrownBy(() -> spec.newCache(shape))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("widths=profile needs a profile that has 'layers/widths'");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "kivi:2 | 6 | 6 | cannot pack heads of 6 channels; expected a multiple of 4 up to 1024",
        "kivi:2 | 8 | 6 | cannot pack heads of 6 channels; expected a multiple of 4 up to 1024",
        "patternkv:2 | 1028 | 64 | cannot pack heads of 1028 channels",
        "mixkvq,high=2,mid=1 | 64 | 1028 | cannot pack heads of 1028 channels",
        "pmkvq:2,budget=1MiB | 576 | 4 | cannot shrink heads of 4 channels; expected at least 8",
        "commvq:4 | 576 | 512 | needs 192 stages for heads of 576 channels; at most 128",
        "commvq:4 | 64 | 512 | needs 171 stages for heads of 512 channels; at most 128",
        "commvq:1 | 63 | 64 | codes channels in pairs; heads have 63 channels"
      })
  void headsThatCannotBeQuantizedAreRejected(
      String spec, int keyDim, int valueDim, String sentence) {
    CacheShape shape = new CacheShape(1, 1, keyDim, valueDim);
    assertThatThrownBy(() -> CacheSpec.parse(spec).bytesFor(shape, 1000))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining(sentence);
  }

  @Test
  void methodsForOneWidthRejectTwo() {
    assertThat(SHAPE.headDim()).isEqualTo(64);
    CacheShape two = new CacheShape(1, 1, 192, 128);
    assertThatThrownBy(two::headDim)
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "keys have 192 channels and values 128; this is made for heads where both have as"
                + " many");
  }

  @Test
  void rotaryPatternsNeedTheRotation() {
    CacheSpec spec = CacheSpec.parse("patternkv:2,rope=rotate");
    assertThat(spec.bytesFor(SHAPE, 1000))
        .isEqualTo(CacheSpec.parse("patternkv:2").bytesFor(SHAPE, 1000));
    assertThatThrownBy(() -> spec.newCache(SHAPE))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("rope=rotate must know how keys are rotated");
  }

  @Test
  void aRotaryWidthNeedsQuantizedLatents() {
    CacheShape latent = new CacheShape(1, 1, 72, 64, ValueOrigin.IN_KEYS);
    assertThatThrownBy(() -> CacheSpec.parse("kivi:2,rotary=8").newCache(SHAPE))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "the cache 'kivi:2,rotary=8' has a width for rotary channels behind a latent; here"
                + " keys have none");
    assertThatThrownBy(() -> CacheSpec.parse("fp16,rotary=8").newCache(latent))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("the cache 'fp16,rotary=8' packs nothing; rotary is for caches that do");
    assertThat(CacheSpec.parse("kivi:2,rotary=8").bytesFor(latent, 900))
        .isEqualTo(CacheSpec.parse("kivi:2").bytesFor(latent, 900));
    // 8 channels of 128 tokens on each of six pages.
    assertThat(CacheSpec.parse("kivi:2,rotary=16").bytesFor(latent, 900).codes())
        .isEqualTo(CacheSpec.parse("kivi:2").bytesFor(latent, 900).codes() + 6 * 8 * 128);
  }
}
