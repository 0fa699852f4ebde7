package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodExample.Trait;
import dev.kvasir.codec.MethodFamily;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** PatternKV: patterns, with uniform codes for residuals. */
public final class PatternkvMethod extends BitWidthMethod {
  public PatternkvMethod() {
    super(
        "patternkv",
        MethodFamily.GROUP_SCALES,
        PatternkvConfig::of,
        "patternkv:1|2|3|4|8: k, v, group, patterns,",
        "  alpha, rope (rotate|static)");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  /** Patterns after RoPE, mined in the whole prompt, and a buffer of up to 128 tokens. */
  @Override
  public Optional<String> paperSettings() {
    return Optional.of("patterns=32,rope=static,group=128,sinks=0,window=0,prefill=exact");
  }

  @Override
  public List<MethodExample> examples() {
    return Stream.concat(
            MethodExample.of(
                EnumSet.of(Trait.ALTERS_CONSTANTS),
                "patternkv:2",
                "patternkv:4,sinks=5,window=40",
                "patternkv:2,window=40",
                "patternkv:1,v-patterns=off",
                "patternkv:2,patterns=4,window=40")
                .stream(),
            MethodExample.of(
                "patternkv:2,rope=static",
                "patternkv:4,rope=static,window=0",
                "patternkv:2,rope=static,patterns=4,sinks=5",
                "patternkv:3,rope=static,k=4,v=2,group=32,patterns=255,window=40",
                "patternkv:2,rope=static,new-patterns=off,v-threshold=off",
                "patternkv:2,k-patterns=off",
                "patternkv:2,rope=static,v-patterns=off,window=300,sinks=130",
                "patternkv:1,k-patterns=off,v-patterns=off",
                "patternkv:4,rope=static,patterns=4,sinks=5")
                .stream())
        .toList();
  }
}
