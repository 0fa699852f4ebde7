"""The tiny models: for each a configuration of transformers that exercises what is special about the family.

Windows and original contexts are shorter than the text, and epsilons are large enough to expose a wrong one.
"""
import dataclasses

VOCABULARY = 96
WINDOW = 24
BASIC = {
    "vocab_size": VOCABULARY, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512, "rms_norm_eps": 1e-3,
    "tie_word_embeddings": False, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}


@dataclasses.dataclass(frozen=True)
class Case:
    """A model: settings of its configuration, and of those a multimodal model adds around them.

    embedding is the size of embeddings, final_norm the middle of the last norm's factors. Tied embeddings are small,
    since otherwise every token would predict itself. Unless converted, tensors have the names and layout that
    transformers has in memory, not those of published files.
    """
    name: str
    settings: dict
    around: dict | None = None
    embedding: float = 1.0
    final_norm: float = 1.0
    converted: bool = True


def case(name, model_type, embedding=1.0, final_norm=1.0, without=(), around=None, converted=True, **settings):
    every = {key: value for key, value in BASIC.items() if key not in without}
    return Case(name, {"model_type": model_type, **every, **settings}, around, embedding, final_norm, converted)


def tied(name, model_type, embedding=0.2, final_norm=1.0, **settings):
    return case(name, model_type, embedding, final_norm, tie_word_embeddings=True, **settings)


def rope(kind, theta=10_000.0, **settings):
    return {"rope_type": kind, "rope_theta": theta, **settings}


def yarn(**settings):
    return rope("yarn", factor=8.0, original_max_position_embeddings=64, **settings)


LLAMA3 = rope("llama3", 500_000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=64)
# Two factors for each of the pairs of channels, as different as those of Phi 3.5.
SHORT = [1.0 + 0.05 * i for i in range(8)]
LONG = [1.0 + 1.5 * i for i in range(8)]

DELTA_NET = {
    "head_dim": 32, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 16, "linear_value_head_dim": 24,
    "linear_num_key_heads": 2, "linear_num_value_heads": 4,
}
QWEN_EXPERTS = {"num_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 32}
SHARED_EXPERT = {**QWEN_EXPERTS, "shared_expert_intermediate_size": 48}
DEEPSEEK = {
    "kv_lora_rank": 32, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 24, "num_key_value_heads": 4,
    "first_k_dense_replace": 1, "n_routed_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 32,
}
GEMMA = {"head_dim": 32, "query_pre_attn_scalar": 20, "sliding_window": WINDOW, "embedding": 0.03, "final_norm": 8.0}
GEMMA4 = {
    "head_dim": 16, "global_head_dim": 32, "sliding_window": WINDOW, "hidden_size_per_layer_input": 0,
    "final_logit_softcapping": 4.0, "embedding": 0.03, "final_norm": 8.0,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
}
GRANITE = {"embedding_multiplier": 3.0, "logits_scaling": 2.0, "residual_multiplier": 0.6, "attention_multiplier": 0.2}
MAMBA = {
    "mamba_n_heads": 8, "mamba_n_groups": 2, "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2,
    "mamba_chunk_size": 32,
    "layer_types": ["mamba", "attention", "mamba", "mamba"],
}
NEMOTRON = {
    "head_dim": 16, "ssm_state_size": 16, "mamba_num_heads": 8, "mamba_head_dim": 16, "n_groups": 2, "conv_kernel": 4,
    "chunk_size": 32, "layer_norm_epsilon": 1e-3, "without": ("rms_norm_eps", "num_hidden_layers"),
}
LFM2 = {
    "norm_eps": 1e-3, "without": ("rms_norm_eps",), "conv_L_cache": 3,
    "layer_types": ["conv", "full_attention", "conv", "full_attention"],
}

VISION = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1}
QWEN_VISION = {"model_type": "qwen3_5", "vision_config": {
    "depth": 1, "hidden_size": 16, "intermediate_size": 16, "num_heads": 2, "out_hidden_size": 64}}

CASES = [
    # Hybrids and new families.
    case("qwen3_5-dense", "qwen3_5_text", **DELTA_NET,
         rope_parameters=rope("default", 1e6, partial_rotary_factor=0.25)),
    tied("qwen3_5-tied", "qwen3_5_text", **DELTA_NET, attention_bias=True),
    case("qwen3_5_moe", "qwen3_5_moe_text", **DELTA_NET, **SHARED_EXPERT),
    case("qwen3_next", "qwen3_next", **DELTA_NET, **SHARED_EXPERT),
    tied("gemma4-dense", "gemma4_text", **GEMMA4),
    tied("gemma4-shared", "gemma4_text", **{
        **GEMMA4, "num_kv_shared_layers": 2, "hidden_size_per_layer_input": 16, "use_double_wide_mlp": True,
        "vocab_size_per_layer_input": VOCABULARY, "num_hidden_layers": 6,
        "layer_types": ["sliding_attention", "sliding_attention", "full_attention"] * 2}),
    tied("gemma4-keys-as-values", "gemma4_text", **GEMMA4, attention_k_eq_v=True, num_global_key_value_heads=1),
    tied("gemma4-moe", "gemma4_text", **GEMMA4, enable_moe_block=True, num_experts=8, top_k_experts=3,
         moe_intermediate_size=32),
    tied("lfm2", "lfm2", **LFM2, block_multiple_of=16),
    case("lfm2-wide", "lfm2", **LFM2, block_auto_adjust_ff_dim=False, rope_parameters=rope("default", 5e5)),
    tied("lfm2_moe", "lfm2_moe", **LFM2, num_experts=8, num_experts_per_tok=3, moe_intermediate_size=32,
         num_dense_layers=1, routed_scaling_factor=1.5),
    case("nemotron_h", "nemotron_h", **NEMOTRON,
         layers_block_type=["linear_attention", "mlp", "full_attention", "mlp", "linear_attention"]),
    case("nemotron_h-moe", "nemotron_h", **NEMOTRON, n_routed_experts=8, num_experts_per_tok=3, n_group=2,
         topk_group=1, moe_intermediate_size=32, moe_shared_expert_intermediate_size=48, routed_scaling_factor=1.5,
         layers_block_type=["linear_attention", "moe", "full_attention", "moe", "linear_attention"]),
    tied("granitemoehybrid", "granitemoehybrid", **GRANITE, **MAMBA, num_local_experts=0,
         shared_intermediate_size=96),
    case("granitemoehybrid-moe", "granitemoehybrid", **GRANITE, **MAMBA, num_local_experts=8, num_experts_per_tok=3,
         shared_intermediate_size=48, position_embedding_type="rope", rope_parameters=rope("default", 5e5)),
    case("glm4_moe", "glm4_moe", **{
        **DEEPSEEK, "head_dim": 32, "num_key_value_heads": 2, "use_qk_norm": True, "attention_bias": True,
        "n_shared_experts": 1, "n_group": 2, "topk_group": 1, "routed_scaling_factor": 1.5, "num_mtp_layers": 0,
        "rope_parameters": rope("default", 1e6, partial_rotary_factor=0.5)}),
    case("glm4_moe_lite", "glm4_moe_lite", **{**DEEPSEEK, "first_k_dense_replace": None}, q_lora_rank=24,
         n_shared_experts=1, n_group=1, topk_group=1, num_mtp_layers=0,
         mlp_layer_types=["dense", "dense", "sparse", "sparse"]),
    tied("ernie4_5", "ernie4_5", head_dim=32),
    case("ernie4_5-biases", "ernie4_5", head_dim=16, use_bias=True, rope_parameters=rope("default", 1e5)),
    case("ministral3", "ministral3", head_dim=32, rope_parameters={
        **yarn(beta_fast=32.0, beta_slow=1.0, mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.1)}),
    case("qwen3_5-images", "qwen3_5_text", **DELTA_NET, around=QWEN_VISION),
    case("qwen3_5_moe-images", "qwen3_5_moe_text", **DELTA_NET, **SHARED_EXPERT, around={
        **QWEN_VISION, "model_type": "qwen3_5_moe"}),
    tied("gemma4-images", "gemma4_text", **GEMMA4, around={"model_type": "gemma4", "vision_config": {
        **VISION, "head_dim": 8, "num_key_value_heads": 2}}),
    # The whole ties its embeddings by default, whatever its text states.
    case("mistral3-images", "ministral3", 0.2, head_dim=32, rope_parameters=yarn(llama_4_scaling_beta=0.1), around={
        "model_type": "mistral3", "vision_config": {"model_type": "pixtral", **VISION, "head_dim": 8}}),
    case("mistral3-window-images", "mistral", 0.2, sliding_window=WINDOW, around={
        "model_type": "mistral3", "vision_config": {"model_type": "pixtral", **VISION, "head_dim": 8}}),
    tied("gemma3-images", "gemma3_text", **GEMMA, around={"model_type": "gemma3", "vision_config": {
        "model_type": "siglip_vision_model", **VISION, "image_size": 28, "patch_size": 14}}),
    # Decoders of one kind of layer.
    case("llama", "llama", attention_bias=True, mlp_bias=True),
    case("llama-llama3", "llama", head_dim=32, rope_parameters=LLAMA3),
    case("llama-linear", "llama", rope_parameters=rope("linear", factor=4.0)),
    case("llama-dynamic", "llama", rope_parameters=rope("dynamic", factor=4.0)),
    case("llama-yarn", "llama", rope_parameters=yarn(attention_factor=1.3, beta_fast=16.0, beta_slow=2.0)),
    tied("llama-tied", "llama"),
    case("mistral", "mistral", head_dim=32, sliding_window=WINDOW),
    case("mixtral", "mixtral", sliding_window=WINDOW, num_local_experts=8, num_experts_per_tok=3),
    case("qwen2", "qwen2", rope_parameters=yarn()),
    tied("qwen2-window", "qwen2", use_sliding_window=True, sliding_window=WINDOW, max_window_layers=2),
    case("qwen2_moe", "qwen2_moe", **SHARED_EXPERT),
    tied("qwen3", "qwen3", head_dim=32, attention_bias=True),
    case("qwen3_moe", "qwen3_moe", **QWEN_EXPERTS, head_dim=32, norm_topk_prob=True),
    tied("gemma2", "gemma2", **GEMMA, attn_logit_softcapping=2.0, final_logit_softcapping=3.0),
    tied("gemma3", "gemma3_text", **{
        **GEMMA, "num_hidden_layers": 7, "rope_parameters": {
            "full_attention": rope("linear", 1e6, factor=8.0), "sliding_attention": rope("default", 1e4)}}),
    case("phi3", "phi3", sliding_window=WINDOW, original_max_position_embeddings=512),
    case("phi3-longrope", "phi3", original_max_position_embeddings=64,
         rope_parameters=rope("longrope", short_factor=SHORT, long_factor=LONG)),
    case("phi3-short", "phi3", original_max_position_embeddings=256, rope_parameters=rope(
        "longrope", short_factor=SHORT[:6], long_factor=LONG[:6], partial_rotary_factor=0.75)),
    tied("granite", "granite", **GRANITE, attention_bias=True, mlp_bias=True),
    case("olmo2", "olmo2", rope_parameters=rope("default", 5e5)),
    case("olmo3", "olmo3", sliding_window=WINDOW, rope_parameters={
        "full_attention": yarn(), "sliding_attention": rope("default", 1e4)}),
    tied("smollm3", "smollm3"),
    case("smollm3-window", "smollm3", use_sliding_window=True, sliding_window=WINDOW, no_rope_layer_interval=2,
         attention_bias=True, mlp_bias=True, rope_parameters=yarn()),
    case("gpt_oss", "gpt_oss", head_dim=16, sliding_window=WINDOW, num_local_experts=8, num_experts_per_tok=3,
         rope_parameters={**yarn(beta_fast=32.0, beta_slow=1.0, truncate=False)}),
    case("deepseek_v2", "deepseek_v2", **DEEPSEEK, q_lora_rank=None, n_shared_experts=2),
    case("deepseek_v2-groups", "deepseek_v2", **DEEPSEEK, q_lora_rank=24, n_shared_experts=1, n_group=4, topk_group=2,
         topk_method="group_limited_greedy", routed_scaling_factor=1.5,
         rope_parameters=yarn(mscale=0.7, mscale_all_dim=0.7)),
    case("deepseek_v3", "deepseek_v3", **DEEPSEEK, q_lora_rank=24, n_shared_experts=1, n_group=4, topk_group=2,
         routed_scaling_factor=1.5, attention_bias=True, num_mtp_layers=0,
         rope_parameters=yarn(mscale=1.0, mscale_all_dim=0.8)),
    # Settings that published models seldom have.
    case("nemotron_h-biases", "nemotron_h", **NEMOTRON, use_bias=True, attention_bias=True, mlp_bias=True,
         mamba_proj_bias=True, use_conv_bias=False, time_step_limit=[0.1, 0.6],
         layers_block_type=["linear_attention", "mlp", "full_attention"]),
    case("nemotron_h-windows", "nemotron_h", **NEMOTRON, sliding_window=WINDOW, norm_topk_prob=False, time_step_min=0.4,
         n_routed_experts=8, num_experts_per_tok=3, moe_intermediate_size=32, moe_shared_expert_intermediate_size=48,
         layers_block_type=["linear_attention", "moe", "full_attention"]),
    case("granitemoehybrid-biases", "granitemoehybrid", **GRANITE, **MAMBA, num_local_experts=0,
         shared_intermediate_size=96, attention_bias=True, mamba_proj_bias=True, mamba_conv_bias=False,
         time_step_limit=[0.1, 0.6]),
    case("granitemoehybrid-yarn", "granitemoehybrid", **GRANITE, **MAMBA, num_local_experts=0,
         shared_intermediate_size=96, position_embedding_type="rope", rope_parameters=yarn()),
    case("lfm2_moe-plain", "lfm2_moe", **LFM2, num_experts=8, num_experts_per_tok=3, moe_intermediate_size=32,
         num_dense_layers=2, use_expert_bias=False, norm_topk_prob=False),
    case("qwen2_moe-window", "qwen2_moe", **SHARED_EXPERT, use_sliding_window=True, sliding_window=WINDOW,
         max_window_layers=3),
    case("qwen3_moe-window", "qwen3_moe", **QWEN_EXPERTS, attention_bias=True, use_sliding_window=True,
         sliding_window=WINDOW),
    case("qwen3-window", "qwen3", head_dim=16, use_sliding_window=True, sliding_window=WINDOW, max_window_layers=1,
         rope_parameters=rope("dynamic", factor=2.0)),
    case("gemma2-biases", "gemma2", **{**GEMMA, "embedding": 1.0, "final_norm": 1.0}, attention_bias=True,
         attn_logit_softcapping=None, final_logit_softcapping=None),
    tied("gemma3-caps", "gemma3_text", **{
        **GEMMA, "attention_bias": True, "final_logit_softcapping": 2.0, "attn_logit_softcapping": 3.0,
        "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention"]}),
    tied("gemma4-biases", "gemma4_text", **{**GEMMA4, "attention_bias": True, "final_logit_softcapping": None}),
    tied("gemma4-everything", "gemma4_text", **{
        **GEMMA4, "num_kv_shared_layers": 2, "hidden_size_per_layer_input": 16, "attention_k_eq_v": True,
        "vocab_size_per_layer_input": VOCABULARY, "num_global_key_value_heads": 1, "enable_moe_block": True,
        "num_experts": 8, "top_k_experts": 3, "moe_intermediate_size": 32}),
    case("olmo2-biases", "olmo2", attention_bias=True, num_key_value_heads=4, rope_parameters=LLAMA3),
    case("olmo3-types", "olmo3", sliding_window=WINDOW, attention_bias=True,
         layer_types=["full_attention", "sliding_attention", "full_attention", "sliding_attention"]),
    case("deepseek_v2-dense", "deepseek_v2", **{**DEEPSEEK, "first_k_dense_replace": 4}, q_lora_rank=None,
         attention_bias=True, mlp_bias=True),
    case("deepseek_v3-halves", "deepseek_v3", **DEEPSEEK, q_lora_rank=None, n_shared_experts=2, n_group=1, topk_group=1,
         norm_topk_prob=False, rope_interleave=False, num_mtp_layers=0),
    case("deepseek_v3-llama3", "deepseek_v3", **DEEPSEEK, q_lora_rank=24, n_group=1, topk_group=1, num_mtp_layers=0,
         rope_parameters=LLAMA3),
    case("glm4_moe-plain", "glm4_moe", **{
        **DEEPSEEK, "num_key_value_heads": 2, "use_qk_norm": False, "n_shared_experts": 2, "norm_topk_prob": False,
        "num_mtp_layers": 0, "rope_parameters": yarn(partial_rotary_factor=0.5)}),
    case("ministral3-window", "ministral3", head_dim=16, sliding_window=WINDOW,
         rope_parameters=yarn(mscale=1.0, mscale_all_dim=0.7, llama_4_scaling_beta=0.1)),
    case("mistral-yarn", "mistral", sliding_window=None, rope_parameters=yarn(truncate=False)),
    case("granite-scaled", "granite", **GRANITE, rope_parameters=rope("linear", factor=3.0)),
    case("ernie4_5-scaled", "ernie4_5", head_dim=32, rope_parameters=yarn()),
    case("llama-longrope", "llama", rope_parameters=rope(
        "longrope", short_factor=SHORT, long_factor=LONG, factor=8.0, original_max_position_embeddings=64)),
    tied("gemma4-ropes", "gemma4_text", **{**GEMMA4, "rope_parameters": {
        "full_attention": rope("linear", 1e5, factor=2.0),
        "sliding_attention": rope("yarn", 5e3, factor=4.0, original_max_position_embeddings=64)}}),
    tied("gemma4-odd", "gemma4_text", **{
        **GEMMA4, "head_dim": 24, "global_head_dim": 40, "sliding_window": 7, "num_key_value_heads": 1,
        "rope_parameters": {"full_attention": rope("proportional", 1e5, partial_rotary_factor=0.5),
                            "sliding_attention": rope("default", 5e3)}}),
    case("phi3-stated-factor", "phi3", original_max_position_embeddings=64,
         rope_parameters=rope("longrope", short_factor=SHORT, long_factor=LONG, factor=32.0)),
    case("qwen3_5-mrope", "qwen3_5_text", **DELTA_NET, rope_parameters=rope(
        "default", 1e6, partial_rotary_factor=0.5, mrope_section=[4, 2, 2], mrope_interleaved=True)),
    case("qwen3_5-yarn", "qwen3_5_text", **DELTA_NET, attention_bias=True, rope_parameters=yarn(
        partial_rotary_factor=0.25)),
    case("qwen3_next-wide", "qwen3_next", **{**DELTA_NET, "linear_num_value_heads": 2, "linear_conv_kernel_dim": 3},
         **SHARED_EXPERT, norm_topk_prob=False, attention_bias=True,
         layer_types=["full_attention", "linear_attention", "linear_attention", "full_attention"]),
    # In the layout that transformers has in memory.
    case("qwen3_moe-stacked", "qwen3_moe", **QWEN_EXPERTS, converted=False),
    case("qwen3_next-stacked", "qwen3_next", **DELTA_NET, **SHARED_EXPERT, converted=False),
    case("qwen3_5_moe-stacked", "qwen3_5_moe_text", **DELTA_NET, **SHARED_EXPERT, converted=False),
    case("deepseek_v3-stacked", "deepseek_v3", **DEEPSEEK, q_lora_rank=24, n_shared_experts=1, n_group=1, topk_group=1,
         num_mtp_layers=0, converted=False),
]
