package dev.kvasir.cuda.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.mixkvq.QuerySpan;
import dev.kvasir.codec.mixkvq.Salience;
import dev.kvasir.codec.mixkvq.Thresholds;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.engine.CudaProvider;
import dev.kvasir.cuda.formats.kivi.KiviFormat;
import dev.kvasir.cuda.formats.mixkvq.MixkvqFormat;
import dev.kvasir.engine.Request;
import dev.kvasir.error.InvalidInputException;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which caches a device supports. */
class DeviceCacheConfigTest {
  @Test
  void specsAreParsedLikeOnTheHost() {
    assertThat(DeviceCacheConfig.of(CacheSpec.parse("fp16"))).isEqualTo(DeviceCacheConfig.FP16);
    assertThat(DeviceCacheConfig.of(CacheSpec.parse("kivi:2")))
        .isEqualTo(new DeviceCacheConfig(new KiviFormat(2), 128, 128, 0));
    assertThat(DeviceCacheConfig.of(CacheSpec.parse("kivi:2,lookup=exact")))
        .isEqualTo(new DeviceCacheConfig(new KiviFormat(2), 128, 128, 0));
    assertThat(DeviceCacheConfig.of(CacheSpec.parse("kivi:4,group=32,window=64")))
        .isEqualTo(new DeviceCacheConfig(new KiviFormat(4), 32, 64, 0));
    assertThat(DeviceCacheConfig.of(CacheSpec.parse("kivi:2,sinks=16")))
        .isEqualTo(new DeviceCacheConfig(new KiviFormat(2), 128, 128, 16));
    assertThat(DeviceCacheConfig.of(CacheSpec.parse("kivi:3")))
        .isEqualTo(new DeviceCacheConfig(new KiviFormat(3), 128, 128, 0));
    assertThat(DeviceCacheConfig.of(CacheSpec.parse("kivi:2,k=4,window=0")))
        .isEqualTo(new DeviceCacheConfig(new KiviFormat(4, 2), 128, 0, 0));
    assertThat(DeviceCacheConfig.of(CacheSpec.parse("mixkvq,high=3,mid=2")))
        .isEqualTo(
            new DeviceCacheConfig(
                new MixkvqFormat(new Thresholds(3, 2), Salience.QUERY, QuerySpan.WINDOW, 1),
                32,
                128,
                32));
    assertThat(
            DeviceCacheConfig.of(
                CacheSpec.parse(
                    "mixkvq,high=3,mid=2,salience=error,queries=sequence,residual=384,group=128,sinks=0")))
        .isEqualTo(
            new DeviceCacheConfig(
                new MixkvqFormat(new Thresholds(3, 2), Salience.ERROR, QuerySpan.SEQUENCE, 3),
                128,
                128,
                0));
    assertThat(DeviceCacheConfig.of(CacheSpec.parse("kivi:2,as=paper")))
        .isEqualTo(new DeviceCacheConfig(new KiviFormat(2), 32, 0, 0));
    assertThat(DeviceCacheConfig.of(CacheSpec.parse("patternkv:4,as=paper")))
        .isEqualTo(
            DeviceCacheConfig.of(CacheSpec.parse("patternkv:4,rope=static,sinks=0,window=0")));
    assertThat(DeviceCacheConfig.of(CacheSpec.parse("mixkvq,as=paper,tiers=residual")))
        .isEqualTo(DeviceCacheConfig.of(CacheSpec.parse("mixkvq,window=0")));
  }

  /** Otherwise blocks would be quantized at other lengths than on the host. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2",
        "kivi:4,group=32,sinks=16",
        "kivi:3,v=1",
        "patternkv:2",
        "patternkv:2,rope=static",
        "patternkv:4,rope=static,sinks=16",
        "mixkvq,high=3,mid=2",
        "mixkvq,high=3,mid=2,queries=sequence,residual=256",
        "mixkvq,high=3,mid=2,salience=error"
      })
  void tokensAreQuantizedWhenTheHostQuantizesThem(String text) {
    CacheSpec spec = CacheSpec.parse(text);
    CacheContext heads = CacheContext.unknown().withQueryHeads(4);
    try (KvCache host = spec.newCache(new CacheShape(1, 2, 64), heads)) {
      assertThat(DeviceCacheConfig.of(spec).format().isQuantizedByPosition())
          .isEqualTo(Request.quantizesByPosition(host, false));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "patternkv:3,rope=static | the cache 'patternkv:3,rope=static' has 3 bits for keys and 3"
            + " for values; on a device expected 2 or 4 for both",
        "commvq:3 | the cache 'commvq:3' has codebooks of 3 bits; on a device expected 1 or 2",
        "commvq:1,beam=8 | the cache 'commvq:1,beam=8' has a beam of 8; on a device expected at"
            + " most 4",
        "commvq:1,values=encoder,scores=tables | the cache"
            + " 'commvq:1,values=encoder,scores=tables' encodes values with a network and has"
            + " scores=tables; on a device expected scores=sums",
        "pmkvq:2,budget=pool | the cache 'pmkvq:2,budget=pool' has the pool's budget; on a device"
            + " expected one of its own",
        "rotatekv:2 | the cache 'rotatekv:2' is not supported on a device; expected fp16, kivi,"
            + " kvtuner, commvq, mead, mixkvq, patternkv or pmkvq there, or --device cpu",
        "fp32 | the cache 'fp32' is not supported on a device; expected fp16, kivi, kvtuner, commvq,"
            + " mead, mixkvq, patternkv or pmkvq there, or --device cpu",
        "mixkvq,residual=64 | the cache 'mixkvq,residual=64' has residual=64; on a device expected"
            + " at least 128",
        "mixkvq,tiers=prompt | the cache 'mixkvq,tiers=prompt' has tiers=prompt; on a device"
            + " expected tiers=residual",
        "mixkvq,lookup=fast | the cache 'mixkvq,lookup=fast' has operands=8; on a device expected"
            + " 15",
        "kvtuner:3,operands=8 | the cache 'kvtuner:3,operands=8' has operands=8; on a device"
            + " expected 15",
        "fp16,rotary=8 | the cache 'fp16,rotary=8' has a width for rotary channels of latent keys;"
            + " a device has no latent keys",
        "kivi:4,rotary=16 | the cache 'kivi:4,rotary=16' has a width for rotary channels of latent"
            + " keys; a device has no latent keys",
        "kivi:4,stored=2@4096 | the cache 'kivi:4,stored=2@4096' stores cold blocks with fewer"
            + " bits; a device stores its blocks as they are",
        "kivi:2,lookup=fast | the cache 'kivi:2,lookup=fast' has operands=8; on a device expected"
            + " 15"
      })
  void unsupportedSpecsAreRejected(String spec, String sentence) {
    assertThatThrownBy(() -> DeviceCacheConfig.of(CacheSpec.parse(spec)))
        .isInstanceOf(DeviceException.class)
        .hasMessage(sentence);
  }

  /** A configuration can be estimated without a profile; a cache needs its thresholds. */
  @Test
  void tiersNeedThresholds() {
    CacheSpec spec = CacheSpec.parse("mixkvq");
    assertThat(DeviceCacheConfig.of(spec).format()).isInstanceOf(MixkvqFormat.class);
    assertThatThrownBy(
            () ->
                DeviceCacheConfig.of(
                    FormatRequest.forCache(spec, Optional.empty(), Optional.empty())))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageStartingWith("the cache 'mixkvq' has no thresholds; find them with");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2",
        "kivi:4,sinks=16",
        "kivi:2,as=paper",
        "kivi:1",
        "kivi:8,v=3",
        "kivi:2,widths=profile",
        "kvtuner:3"
      })
  void cachesThatArePagesAloneAreStored(String spec) {
    assertThatCode(() -> new CudaProvider().requireStorable(CacheSpec.parse(spec)))
        .doesNotThrowAnyException();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "patternkv:2",
        "pmkvq:2,budget=3MiB,widths=same",
        "mixkvq,high=3,mid=2",
        "commvq:2"
      })
  void cachesWithTablesAreNotStored(String text) {
    CacheSpec spec = CacheSpec.parse(text);
    assertThatThrownBy(() -> new CudaProvider().requireStorable(spec))
        .isInstanceOf(DeviceException.class)
        .hasMessage(
            "the cache '%s' cannot be stored from a GPU; expected fp16, kivi or kvtuner, or"
                    .formatted(spec)
                + " --device cpu");
  }

  @Test
  void cachesThatAreNotSupportedAreNotStoredEither() {
    assertThatThrownBy(() -> new CudaProvider().requireStorable(CacheSpec.parse("quarot:4")))
        .isInstanceOf(DeviceException.class)
        .hasMessageContaining("is not supported on a device");
  }
}
