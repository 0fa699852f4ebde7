package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.memory.SharedArena;

/**
 * Creates a page of a lower rate from a page's codes. Tokens keep their tiers, table rows and, if
 * unquantized, their exact rows. The mean error of values grows by the error of the new codes
 * against the old ones. All tokens weigh the same in it, because a quantized page no longer knows
 * the attention they received.
 */
final class MeadPageRequantizer {
  private static final int TOKENS = Page.TOKENS;

  private final MeadCodec codec;
  private final MeadSizes sizes;
  private final PageWorkspace workspace;
  private final HeadEncodingScratch scratch;
  private final boolean[] isExact = new boolean[TOKENS];

  MeadPageRequantizer(MeadCodec codec) {
    this.codec = codec;
    this.sizes = codec.tables().sizes();
    this.workspace = new PageWorkspace(codec.kernels());
    this.scratch = new HeadEncodingScratch(sizes);
  }

  /**
   * @param rate lower than the page's
   */
  MeadPage requantized(SharedArena memory, MeadPage page, MeadRate rate) {
    MeadPage lower = page.emptyCopy(memory, rate);
    for (LateSink sink : page.sinks()) {
      isExact[sink.token()] = true;
    }
    HeadTierAssigner.setUniformShares(isExact, scratch.shares);
    HeadEncoder encoder = new HeadEncoder(sizes, codec.storesMeanErrors());
    for (int head = 0; head < sizes.kvHeads(); head++) {
      read(page, head);
      lower.writeTableRows(head, scratch);
      scratch.subtractTableRows(page.head(head));
      encoder.encode(page.head(head), lower.codes(), head, scratch, lower.data());
    }
    return lower;
  }

  private void read(MeadPage page, int head) {
    MeadWorkspace meadWorkspace = MeadWorkspace.of(workspace, sizes);
    page.readKeys(codec.kernels(), meadWorkspace, head);
    System.arraycopy(meadWorkspace.vectors, 0, scratch.keys, 0, scratch.keys.length);
    readTableRows(meadWorkspace, scratch.keyTableRows);
    page.readComponents(codec.kernels(), meadWorkspace, head);
    System.arraycopy(meadWorkspace.vectors, 0, scratch.components, 0, scratch.components.length);
    readTableRows(meadWorkspace, scratch.valueTableRows);
    System.arraycopy(meadWorkspace.order, 0, scratch.order, 0, TOKENS);
    System.arraycopy(meadWorkspace.means, 0, scratch.means, 0, scratch.means.length);
  }

  private static void readTableRows(MeadWorkspace meadWorkspace, int[] byToken) {
    for (int row = 0; row < TOKENS; row++) {
      byToken[meadWorkspace.order[row]] = meadWorkspace.tableRows[row];
    }
  }
}
