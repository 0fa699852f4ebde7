package dev.kvasir.cuda.formats.mead;

import dev.kvasir.codec.mead.MeadParameters;
import dev.kvasir.codec.mead.TableKind;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.kernel.Rotation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The layout of a block of 128 tokens in all layers. The parts of its heads are distributed over
 * two pages of equal size, because sequences allocate memory by pages of 64 tokens.
 *
 * @param parts by layer, KV head, and keys and values
 * @param pageBytes bytes of each of the two pages
 */
record BlockLayout(List<Part> parts, int kvHeads, int pageBytes) {
  private static final int ALIGNMENT = Fp16Page.TOKENS;
  private static final int SIDES = 2;
  private static final int BLOCK = Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;

  /**
   * A part and where it is stored.
   *
   * @param page 0 or 1
   * @param at offset in the page
   */
  record Part(PartLayout layout, int page, int at) {}

  static BlockLayout of(MeadParameters parameters, Rotation rotation, int headDim) {
    LinearRotations rotations = LinearRotations.of(rotation.table(headDim), headDim);
    List<PartLayout> layouts = new ArrayList<>();
    for (int layer = 0; layer < parameters.layers(); layer++) {
      int tableBytes = tableBytes(parameters, layer);
      for (int kvHead = 0; kvHead < parameters.kvHeads(); kvHead++) {
        MeadParameters.Head head = parameters.head(layer, kvHead);
        layouts.add(PartLayout.ofKeys(StepWidths.ofKeys(head, headDim, rotations), tableBytes));
        layouts.add(PartLayout.ofValues(StepWidths.ofValues(head, headDim)));
      }
    }
    return of(layouts, parameters.kvHeads());
  }

  /** Returns the bytes of what selects rows of tables for the tokens of a head. */
  private static int tableBytes(MeadParameters parameters, int layer) {
    if (parameters.isTokenDetermined(layer)) {
      return BLOCK * Integer.BYTES;
    }
    return parameters.kind() == TableKind.OFF ? 0 : BLOCK * Short.BYTES;
  }

  /** Puts each part, the largest first, into the page with fewer bytes. */
  static BlockLayout of(List<PartLayout> layouts, int kvHeads) {
    int[] used = new int[Fp16Page.BLOCK_PAGES];
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < layouts.size(); i++) {
      order.add(i);
    }
    order.sort(Comparator.comparingInt(i -> -layouts.get(i).bytes()));
    Part[] parts = new Part[layouts.size()];
    for (int i : order) {
      int page = used[0] <= used[1] ? 0 : 1;
      parts[i] = new Part(layouts.get(i), page, used[page]);
      used[page] += layouts.get(i).bytes();
    }
    int most = Math.max(used[0], used[1]);
    return new BlockLayout(List.of(parts), kvHeads, Math.ceilDiv(most, ALIGNMENT) * ALIGNMENT);
  }

  Part part(int layer, int kvHead, boolean ofKeys) {
    return parts.get((layer * kvHeads + kvHead) * SIDES + (ofKeys ? 0 : 1));
  }

  int layers() {
    return parts.size() / SIDES / kvHeads;
  }

  /** Returns the bytes of the largest chunk of any part. */
  int maxChunkBytes() {
    return parts.stream().mapToInt(part -> part.layout().maxChunkBytes()).max().orElseThrow();
  }
}
