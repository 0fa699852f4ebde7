package dev.kvasir.codec.mixed;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.memory.SharedArena;
import java.util.List;

/** The sequence codecs of parts whose pages have levels. */
final class RequantizingMixedHeadsSequence extends MixedHeadsSequence
    implements RequantizingSequence {
  RequantizingMixedHeadsSequence(LayerParts layers, List<SequenceCodec> parts) {
    super(layers, parts);
  }

  private RequantizingSequence part(int layer) {
    return (RequantizingSequence) parts.get(layers.partOf(layer));
  }

  @Override
  public int level(int layer) {
    return part(layer).level(layers.indexOf(layer));
  }

  @Override
  public void setLevel(int layer, int level) {
    part(layer).setLevel(layers.indexOf(layer), level);
  }

  /** Returns what any part would: a level does not depend on the size of heads. */
  @Override
  public int level(Page page) {
    return part(0).level(page);
  }

  @Override
  public Page requantize(SharedArena memory, int layer, Page page, int level) {
    return part(layer).requantize(memory, layers.indexOf(layer), page, level);
  }

  @Override
  public RequantizingSequence fork() {
    return new RequantizingMixedHeadsSequence(layers, forkParts());
  }
}
