package dev.kvasir.family;

/** What the layers of most families are made of, under the names that most of them share. */
final class LayerTensors {
  /** Scores are then about 2 in size, and attention is neither flat nor all on one token. */
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

  /** Norms before attention and before the feed-forward part, as in Llama. */
  void normsBefore() {
    norm("attn_norm", "input_layernorm");
    norm("ffn_norm", "post_attention_layernorm");
  }

  /** Heads that rotate halves in both formats. */
  void attention() {
    matrix("attn_q", "self_attn.q_proj", QUERY_GAIN, sizes.queries(), sizes.hidden());
    matrix("attn_k", "self_attn.k_proj", QUERY_GAIN, sizes.keys(), sizes.hidden());
    valuesAndOutput();
  }

  /** Heads whose halves conversion to GGUF has made neighbours. */
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

  /** Norms of queries and keys, over as many channels. */
  void queryNorms(int queryChannels, int keyChannels) {
    norm("attn_q_norm", "self_attn.q_norm", queryChannels);
    norm("attn_k_norm", "self_attn.k_norm", keyChannels);
  }

  void feedForward() {
    gated("", "mlp.", sizes.feedForward());
  }

  /** Gate, up and down, with an ending of their GGUF names and a beginning of the others. */
  void gated(String ending, String beginning, int width) {
    matrix("ffn_gate" + ending, beginning + "gate_proj", 1.3, width, sizes.hidden());
    matrix("ffn_up" + ending, beginning + "up_proj", 1.3, width, sizes.hidden());
    matrix("ffn_down" + ending, beginning + "down_proj", 1.3, sizes.hidden(), width);
  }

  /**
   * A router and its experts: three dimensions in GGUF, one matrix each in a folder.
   *
   * @param names what a folder calls gate, up and down
   */
  void experts(String block, int count, int width, String... names) {
    // Logits of about 2 in size: some experts are clearly wanted, and all are chosen sometimes.
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
