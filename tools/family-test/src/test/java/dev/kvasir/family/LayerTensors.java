package dev.kvasir.family;

/** The tensors of a layer under the names that most families share. */
final class LayerTensors {
  /** Makes scores about 2 in size, so that attention is neither uniform nor on a single token. */
  private static final double QUERY_GAIN = 1.4;

  private final FamilyModel model;
  private final FamilySizes sizes;
  private final String gguf;
  private final String huggingFace;

  LayerTensors(FamilyModel model, int layer) {
    this.model = model;
    this.sizes = model.sizes();
    this.gguf = FamilyModel.gguf(layer);
    this.huggingFace = FamilyModel.huggingFace(layer);
  }

  void norm(String ggufStem, String huggingFaceStem) {
    norm(ggufStem, huggingFaceStem, sizes.hidden());
  }

  void norm(String ggufStem, String huggingFaceStem, int length) {
    model.norm(gguf + ggufStem, huggingFace + huggingFaceStem, length);
  }

  void matrix(String ggufStem, String huggingFaceStem, double gain, int rows, int columns) {
    model.matrix(gguf + ggufStem, huggingFace + huggingFaceStem, gain, rows, columns);
  }

  /** Adds norms before attention and before the feed-forward block, as in Llama. */
  void normsBefore() {
    norm("attn_norm", "input_layernorm");
    norm("ffn_norm", "post_attention_layernorm");
  }

  /** Adds heads that rotate halves in both formats. */
  void attention() {
    matrix("attn_q", "self_attn.q_proj", QUERY_GAIN, sizes.queries(), sizes.hidden());
    matrix("attn_k", "self_attn.k_proj", QUERY_GAIN, sizes.keys(), sizes.hidden());
    valuesAndOutput();
  }

  /** Adds heads whose halves the conversion to GGUF interleaves. */
  void neighbouringAttention() {
    neighbours("attn_q", "self_attn.q_proj", sizes.queryHeads());
    neighbours("attn_k", "self_attn.k_proj", sizes.kvHeads());
    valuesAndOutput();
  }

  private void neighbours(String ggufStem, String huggingFaceStem, int heads) {
    int rows = heads * sizes.headDim();
    TensorValues halves = model.randomMatrix(gguf + ggufStem, QUERY_GAIN, rows, sizes.hidden());
    model.gguf(gguf + ggufStem + ".weight", halves.withNeighbouringHalves(heads));
    model.folder(huggingFace + huggingFaceStem + ".weight", halves);
  }

  private void valuesAndOutput() {
    matrix("attn_v", "self_attn.v_proj", 1.3, sizes.keys(), sizes.hidden());
    matrix("attn_output", "self_attn.o_proj", 1.3, sizes.hidden(), sizes.queries());
  }

  void attentionBiases() {
    bias("attn_q", "self_attn.q_proj", sizes.queries());
    bias("attn_k", "self_attn.k_proj", sizes.keys());
    bias("attn_v", "self_attn.v_proj", sizes.keys());
  }

  void bias(String ggufStem, String huggingFaceStem, int length) {
    model.bias(gguf + ggufStem, huggingFace + huggingFaceStem, 0.3, length);
  }

  /** Adds norms of queries and keys over the given numbers of channels. */
  void queryNorms(int queryChannels, int keyChannels) {
    norm("attn_q_norm", "self_attn.q_norm", queryChannels);
    norm("attn_k_norm", "self_attn.k_norm", keyChannels);
  }

  void feedForward() {
    gated("", "mlp.", sizes.feedForward());
  }

  /** Adds gate, up and down, with a suffix of the GGUF names and a prefix of the others. */
  void gated(String suffix, String prefix, int width) {
    matrix("ffn_gate" + suffix, prefix + "gate_proj", 1.3, width, sizes.hidden());
    matrix("ffn_up" + suffix, prefix + "up_proj", 1.3, width, sizes.hidden());
    matrix("ffn_down" + suffix, prefix + "down_proj", 1.3, sizes.hidden(), width);
  }

  /**
   * Adds a router and its experts: one 3-D tensor in GGUF, one matrix for each expert in a folder.
   *
   * @param names of gate, up and down in a folder
   */
  void experts(String block, int count, int width, String... names) {
    // Router logits of about 2: some experts clearly win, and all are selected sometimes.
    matrix("ffn_gate_inp", block + "gate", 2, count, sizes.hidden());
    expert("ffn_gate_exps", block, names[0], count, width, sizes.hidden());
    expert("ffn_up_exps", block, names[1], count, width, sizes.hidden());
    expert("ffn_down_exps", block, names[2], count, sizes.hidden(), width);
  }

  private void expert(
      String ggufStem, String block, String name, int count, int rows, int columns) {
    TensorValues all = model.randomMatrix(gguf + ggufStem, 1.5, count, rows, columns);
    model.gguf(gguf + ggufStem + ".weight", all);
    for (int i = 0; i < count; i++) {
      String one = huggingFace + block + "experts." + i + "." + name + ".weight";
      model.folder(one, all.part(i));
    }
  }
}
