package dev.kvasir.bench;

import java.util.List;
import java.util.Map;

/** The recurrent layers of hybrid presets: how often they occur, their sizes and tensors. */
enum RandomHybrid {
  /** Mamba-2 with 48 heads of 128 x 64. */
  GRANITE_H("granitehybrid", 128, 10, 48 * 64, 128, 48, 1) {
    @Override
    void list(String block, int width, List<RandomTensor> tensors) {
      int convolved = inner + 2 * groups * state;
      tensors.add(new RandomTensor(block + "ssm_in.weight", width, inner + convolved + heads));
      tensors.add(new RandomTensor(block + "ssm_conv1d.weight", TAPS, convolved, 0, false));
      tensors.add(RandomTensor.ones(block + "ssm_conv1d.bias", convolved));
      tensors.add(RandomTensor.ones(block + "ssm_dt.bias", heads));
      tensors.add(RandomTensor.constant(block + "ssm_a", 1, heads, -1));
      tensors.add(RandomTensor.constant(block + "ssm_d", 1, heads, 1));
      tensors.add(RandomTensor.constant(block + "ssm_norm.weight", inner / groups, groups, 1));
      tensors.add(new RandomTensor(block + "ssm_out.weight", inner, width));
    }
  },

  /** Gated delta nets with 16 heads of 128 x 128. */
  QWEN3_5("qwen35", 256, 4, 16 * 128, 128, 16, 16) {
    @Override
    void list(String block, int width, List<RandomTensor> tensors) {
      int convolved = inner + 2 * groups * state;
      tensors.add(new RandomTensor(block + "attn_qkv.weight", width, convolved));
      tensors.add(new RandomTensor(block + "attn_gate.weight", width, inner));
      tensors.add(new RandomTensor(block + "ssm_beta.weight", width, heads));
      tensors.add(new RandomTensor(block + "ssm_alpha.weight", width, heads));
      tensors.add(new RandomTensor(block + "ssm_conv1d.weight", TAPS, convolved, 0, false));
      tensors.add(RandomTensor.ones(block + "ssm_dt.bias", heads));
      tensors.add(RandomTensor.constant(block + "ssm_a", heads, 0, -1));
      tensors.add(RandomTensor.ones(block + "ssm_norm.weight", inner / heads));
      tensors.add(new RandomTensor(block + "ssm_out.weight", inner, width));
    }
  };

  private static final int TAPS = 4;

  final String architecture;
  final int headDim;
  final int inner;
  final int state;
  final int heads;
  final int groups;
  private final int interval;

  /**
   * @param headDim channels of an attention head
   * @param interval of layers with attention
   * @param inner channels of all recurrent heads
   * @param state rows of a head's matrix
   */
  RandomHybrid(
      String architecture, int headDim, int interval, int inner, int state, int heads, int groups) {
    this.architecture = architecture;
    this.headDim = headDim;
    this.interval = interval;
    this.inner = inner;
    this.state = state;
    this.heads = heads;
    this.groups = groups;
  }

  boolean attends(int layer) {
    return layer % interval == interval - 1;
  }

  /** Adds the tensors of a recurrent layer, except for norms and the feed-forward part. */
  abstract void list(String block, int width, List<RandomTensor> tensors);

  /** Returns the metadata of recurrent layers, without the family's name. */
  Map<String, Integer> sizes() {
    return Map.of(
        "ssm.conv_kernel", TAPS,
        "ssm.inner_size", inner,
        "ssm.state_size", state,
        "ssm.time_step_rank", heads,
        "ssm.group_count", groups,
        "full_attention_interval", interval);
  }
}
