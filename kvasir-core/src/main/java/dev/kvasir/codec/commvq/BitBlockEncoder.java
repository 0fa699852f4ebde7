package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.page.BitCodes;
import java.util.Arrays;

/** Encodes the values of a page with a layer's network, a range of tokens in each task. */
final class BitBlockEncoder {
  private final Kernels kernels;
  private final ValueEncoder encoder;
  private final ValueEncoder.Workspace[] workspaces;
  private final HeadGroups token; // all KV heads in one group
  private final BitCodes codes;

  /**
   * @param workers threads that may encode
   */
  BitBlockEncoder(Kernels kernels, ValueEncoder encoder, int workers) {
    this.kernels = kernels;
    this.encoder = encoder;
    this.workspaces = new ValueEncoder.Workspace[workers];
    int kvHeads = encoder.rows().size();
    this.token = new HeadGroups(kvHeads, 1, encoder.width() / kvHeads);
    this.codes = new BitCodes(encoder.bits());
  }

  /**
   * Encodes the tokens from {@code from} to {@code end}.
   *
   * @param values (kvHeads, tokens, valueDim)
   * @param joined (tokens, width), set for these tokens
   * @param out bits as words of {@link BitCodes}, set for these tokens
   */
  void encode(int worker, float[] values, int from, int end, float[] joined, EncodedBlock out) {
    if (workspaces[worker] == null) {
      workspaces[worker] = new ValueEncoder.Workspace(encoder);
    }
    token.join(values, Page.TOKENS, from, end, joined);
    int width = encoder.width();
    byte[] bits = new byte[(end - from) * encoder.bits()];
    short[] scales = new short[end - from];
    float[] tokens = Arrays.copyOfRange(joined, from * width, end * width);
    encoder.encode(kernels, workspaces[worker], tokens, end - from, bits, scales);
    System.arraycopy(scales, 0, out.scales(), from, scales.length);
    for (int i = 0; i < bits.length; i++) {
      int bit = i % encoder.bits();
      int word = (from + i / encoder.bits()) * codes.words() + bit / Short.SIZE;
      out.codes()[word] |= (short) (bits[i] << bit % Short.SIZE);
    }
  }
}
