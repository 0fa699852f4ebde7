package dev.kvasir.codec.ott;

import dev.kvasir.codec.Form;
import dev.kvasir.codec.Lookups;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.HeadShape;
import java.util.Collections;
import java.util.List;

/**
 * OTT: tokens whose keys are unusually small stretch the range of the channels that are large
 * everywhere else. They are kept as they are, and codes are made as if they were not there.
 */
final class OttCodec implements StatelessCodec {
  private final KeptShape kept;
  private final List<HeadShape> heads;
  private final Lookups lookups;

  OttCodec(KeptShape kept, HeadShape head, Lookups lookups) {
    this.kept = kept;
    this.heads = Collections.nCopies(kept.kvHeads(), head);
    this.lookups = lookups;
  }

  @Override
  public Page seal(SharedArena memory, int layer, int position, float[] keys, float[] values) {
    KeptTokens outliers = KeptTokens.of(memory, kept, keys, values);
    return new OttPage(
        memory, UniformPage.pack(memory, heads, lookups, null, keys, values), outliers);
  }

  @Override
  public Page read(SharedArena memory, int layer, Form form) {
    return OttPage.read(memory, form, this);
  }

  KeptShape kept() {
    return kept;
  }

  HeadShape head() {
    return heads.getFirst();
  }

  Lookups lookups() {
    return lookups;
  }

  @Override
  public long pageBytes() {
    return (long) kept.kvHeads() * head().bytes() + kept.bytes();
  }

  @Override
  public long codeBytes() {
    return (long) kept.kvHeads() * head().codeBytes();
  }
}
