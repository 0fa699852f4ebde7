package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.memory.SharedArena;

/**
 * Makes a page of a lower rate out of a page's own codes. Tokens keep their classes, rows of tables
 * and, where they stay exact, their rows. What codes of values are wrong by on the whole grows by
 * what the new codes leave of the old ones, all tokens weighed alike: what they have received is
 * not known of a page that is packed.
 */
final class Recoding {
  private static final int TOKENS = Page.TOKENS;

  private final MeadCodec codec;
  private final MeadSizes sizes;
  private final PageRoom worker;
  private final HeadTokens tokens;
  private final boolean[] isExact = new boolean[TOKENS];

  Recoding(MeadCodec codec) {
    this.codec = codec;
    this.sizes = codec.tables().sizes();
    this.worker = new PageRoom(codec.kernels());
    this.tokens = new HeadTokens(sizes);
  }

  /**
   * @param rate lower than the page's
   */
  MeadPage recoded(SharedArena memory, MeadPage page, MeadRate rate) {
    MeadPage lower = page.blank(memory, rate);
    for (LateSink sink : page.sinks()) {
      isExact[sink.token()] = true;
    }
    HeadClassing.shareEvenly(isExact, tokens.shares);
    HeadEncoder encoder = new HeadEncoder(sizes, codec.keepsMeans());
    for (int head = 0; head < sizes.kvHeads(); head++) {
      read(page, head);
      lower.writePicks(head, tokens);
      tokens.takeRowsOff(page.head(head));
      encoder.encode(page.head(head), lower.codes(), head, tokens, lower.data());
    }
    return lower;
  }

  private void read(MeadPage page, int head) {
    MeadRoom room = MeadRoom.of(worker, sizes);
    page.readKeys(codec.kernels(), room, head);
    System.arraycopy(room.vectors, 0, tokens.keys, 0, tokens.keys.length);
    readPicks(room, tokens.keyPicks);
    page.readComponents(codec.kernels(), room, head);
    System.arraycopy(room.vectors, 0, tokens.components, 0, tokens.components.length);
    readPicks(room, tokens.valuePicks);
    System.arraycopy(room.order, 0, tokens.order, 0, TOKENS);
    System.arraycopy(room.means, 0, tokens.means, 0, tokens.means.length);
  }

  private static void readPicks(MeadRoom room, int[] byToken) {
    for (int row = 0; row < TOKENS; row++) {
      byToken[room.order[row]] = room.picks[row];
    }
  }
}
