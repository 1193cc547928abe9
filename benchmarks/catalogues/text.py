"""Models of text: encoders, decoders, mixtures of experts, encoder-decoders."""

from __future__ import annotations

from typing import Final

from benchmarks.catalogues.inputs import NEXT_TOKENS, TOKENS, Model, family, ids, ones

ENCODER: Final = "encoder"
DECODER: Final = "decoder"
EXPERTS: Final = "mixture of experts"
BOTH: Final = "encoder-decoder"

PAIR: Final = {**TOKENS, "decoder_input_ids": ids(2, 8), "decoder_attention_mask": ones(2, 8)}
TARGET_TOKENS: Final = {"labels": ids(2, 8)}

# No multiple of the attention window, so that the models pad it.
ODD: Final = {"input_ids": ids(2, 12), "attention_mask": ones(2, 12)}

ENCODERS: Final = (
    *family(
        ENCODER, TOKENS, NEXT_TOKENS,
        "bert:BertForMaskedLM", "distilbert:DistilBertForMaskedLM", "roberta:RobertaForMaskedLM",
        "albert:AlbertForMaskedLM", "electra:ElectraForMaskedLM", "mpnet:MPNetForMaskedLM",
        "deberta-v2:DebertaV2ForMaskedLM", "deberta:DebertaForMaskedLM",
        "funnel:FunnelForMaskedLM", "modernbert:ModernBertForMaskedLM",
        "nystromformer:NystromformerForMaskedLM", "yoso:YosoForMaskedLM",
        "ibert:IBertForMaskedLM", "convbert:ConvBertForMaskedLM",
        "xlm-roberta:XLMRobertaForMaskedLM", "roformer:RoFormerForMaskedLM",
        "big_bird:BigBirdForMaskedLM",
        "rembert:RemBertForMaskedLM",
        "layoutlm:LayoutLMForMaskedLM", "megatron-bert:MegatronBertForMaskedLM",
    ),
    Model("longformer", "LongformerForMaskedLM", ENCODER, ODD, {"labels": ids(2, 12)}),
    *family(ENCODER, {"input_ids": ids(2, 16)}, NEXT_TOKENS, "fnet:FNetForMaskedLM"),
    Model(
        "squeezebert", "SqueezeBertForMaskedLM", ENCODER, TOKENS, NEXT_TOKENS,
        {"embedding_size": 32},
    ),
    Model(
        "mobilebert", "MobileBertForMaskedLM", ENCODER, TOKENS, NEXT_TOKENS,
        {"embedding_size": 16, "intra_bottleneck_size": 16, "true_hidden_size": 16},
    ),
    Model(
        "xmod", "XmodForMaskedLM", ENCODER, TOKENS, NEXT_TOKENS, {"default_language": "en_XX"}
    ),
    Model(
        "esm", "EsmForMaskedLM", ENCODER,
        {"input_ids": ids(2, 16, below=30), "attention_mask": ones(2, 16)},
        {"labels": ids(2, 16, below=30)},
        {"vocab_size": 33, "pad_token_id": 1, "mask_token_id": 32},
    ),
    Model(
        "reformer", "ReformerForMaskedLM", ENCODER, TOKENS, NEXT_TOKENS,
        {
            "axial_pos_embds_dim": (16, 16), "axial_pos_shape": (4, 4), "attention_head_size": 8,
            "local_attn_chunk_length": 4, "lsh_attn_chunk_length": 4, "num_buckets": 4,
            "attn_layers": ("local", "lsh"),
        },
    ),
    Model(
        "tapas", "TapasForMaskedLM", ENCODER,
        {**TOKENS, "token_type_ids": ids(2, 16, 7, below=2)}, NEXT_TOKENS,
    ),
)  # fmt: skip

DECODERS: Final = (
    *family(
        DECODER, TOKENS, NEXT_TOKENS,
        "gpt2:GPT2LMHeadModel", "gpt_neo:GPTNeoForCausalLM", "gpt_neox:GPTNeoXForCausalLM",
        "llama:LlamaForCausalLM", "mistral:MistralForCausalLM", "qwen2:Qwen2ForCausalLM",
        "qwen3:Qwen3ForCausalLM", "phi:PhiForCausalLM", "phi3:Phi3ForCausalLM",
        "gemma:GemmaForCausalLM", "gemma2:Gemma2ForCausalLM", "gemma3_text:Gemma3ForCausalLM",
        "falcon:FalconForCausalLM", "bloom:BloomForCausalLM", "opt:OPTForCausalLM",
        "cohere:CohereForCausalLM", "olmo2:Olmo2ForCausalLM", "stablelm:StableLmForCausalLM",
        "ctrl:CTRLLMHeadModel", "openai-gpt:OpenAIGPTLMHeadModel", "xlnet:XLNetLMHeadModel",
        "xglm:XGLMForCausalLM", "flaubert:FlaubertWithLMHeadModel", "xlm:XLMWithLMHeadModel",
        "mamba:MambaForCausalLM", "mpt:MptForCausalLM", "biogpt:BioGptForCausalLM",
        "smollm3:SmolLM3ForCausalLM", "rwkv:RwkvForCausalLM",
    ),
    Model("gptj", "GPTJForCausalLM", DECODER, TOKENS, NEXT_TOKENS, {"rotary_dim": 4}),
    Model("codegen", "CodeGenForCausalLM", DECODER, TOKENS, NEXT_TOKENS, {"rotary_dim": 4}),
    Model(
        "recurrent_gemma", "RecurrentGemmaForCausalLM", DECODER, TOKENS, NEXT_TOKENS,
        {"num_hidden_layers": 3, "lru_width": 32, "attention_window_size": 8},
    ),
    Model(
        "mamba2", "Mamba2ForCausalLM", DECODER, TOKENS, NEXT_TOKENS,
        {"num_heads": 8, "head_dim": 8, "state_size": 8, "n_groups": 2, "chunk_size": 8},
    ),
)  # fmt: skip

MIXTURES: Final = (
    *family(
        EXPERTS, TOKENS, NEXT_TOKENS,
        "mixtral:MixtralForCausalLM", "qwen2_moe:Qwen2MoeForCausalLM",
        "qwen3_moe:Qwen3MoeForCausalLM", "olmoe:OlmoeForCausalLM", "phimoe:PhimoeForCausalLM",
        "gpt_oss:GptOssForCausalLM", "granitemoe:GraniteMoeForCausalLM",
    ),
    Model(
        "deepseek_v3", "DeepseekV3ForCausalLM", EXPERTS, TOKENS, NEXT_TOKENS,
        {"qk_head_dim": 16, "num_key_value_heads": 4, "first_k_dense_replace": 1},
    ),
    Model(
        "jamba", "JambaForCausalLM", EXPERTS, TOKENS, NEXT_TOKENS,
        {
            "attn_layer_period": 2, "attn_layer_offset": 1, "expert_layer_period": 2,
            "expert_layer_offset": 1, "use_mamba_kernels": False, "mamba_dt_rank": 4,
        },
    ),
    *family(
        EXPERTS, PAIR, TARGET_TOKENS,
        "switch_transformers:SwitchTransformersForConditionalGeneration",
        "nllb-moe:NllbMoeForConditionalGeneration",
    ),
)  # fmt: skip

ENCODER_DECODERS: Final = [
    Model(
        "led", "LEDForConditionalGeneration", BOTH,
        {**ODD, "decoder_input_ids": ids(2, 8), "decoder_attention_mask": ones(2, 8)},
        TARGET_TOKENS,
    ),
    *family(
        BOTH, PAIR, TARGET_TOKENS,
        "t5:T5ForConditionalGeneration", "mt5:MT5ForConditionalGeneration",
        "bart:BartForConditionalGeneration", "mbart:MBartForConditionalGeneration",
        "pegasus:PegasusForConditionalGeneration", "marian:MarianMTModel",
        "m2m_100:M2M100ForConditionalGeneration", "fsmt:FSMTForConditionalGeneration",
        "blenderbot-small:BlenderbotSmallForConditionalGeneration",
        "longt5:LongT5ForConditionalGeneration",
        "prophetnet:ProphetNetForConditionalGeneration", "umt5:UMT5ForConditionalGeneration",
        "plbart:PLBartForConditionalGeneration", "mvp:MvpForConditionalGeneration",
        "bigbird_pegasus:BigBirdPegasusForConditionalGeneration",
    ),
]  # fmt: skip

TEXT: Final[tuple[Model, ...]] = (*ENCODERS, *DECODERS, *MIXTURES, *ENCODER_DECODERS)
