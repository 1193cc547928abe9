"""The models of the benchmark: how each is made tiny, and what it is called with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Input:
    """A tensor to make: ``kind`` is ``ids``, ``floats``, ``ones``, ``zeros`` or ``values``."""

    kind: str
    shape: tuple[int, ...] = ()
    below: int = 100
    values: Any = None


Inputs = Mapping[str, Input]


@dataclass(frozen=True, slots=True)
class Model:
    """One model type.

    ``config`` is laid over the shrunk configuration, ``inputs`` are the forward arguments and
    ``labels`` what training adds to them.
    """

    name: str
    cls: str
    family: str
    inputs: Inputs
    labels: Inputs = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    library: str = "transformers"


def ids(*shape: int, below: int = 100) -> Input:
    """Whole numbers, as tokens and classes are."""
    return Input("ids", shape, below)


def floats(*shape: int) -> Input:
    """Normally distributed numbers."""
    return Input("floats", shape)


def ones(*shape: int) -> Input:
    """A mask that hides nothing."""
    return Input("ones", shape)


def values(given: Any) -> Input:
    """A tensor of exactly these numbers."""
    return Input("values", values=given)


TOKENS: Final = {"input_ids": ids(2, 16), "attention_mask": ones(2, 16)}
PAIR: Final = {**TOKENS, "decoder_input_ids": ids(2, 8), "decoder_attention_mask": ones(2, 8)}
PICTURE: Final = {"pixel_values": floats(2, 3, 32, 32)}
BIG_PICTURE: Final = {"pixel_values": floats(2, 3, 64, 64)}
WAVE: Final = {"input_values": floats(2, 3200)}
NEXT_TOKENS: Final = {"labels": ids(2, 16)}
TARGET_TOKENS: Final = {"labels": ids(2, 8)}
CLASSES: Final = {"labels": ids(2, below=2)}

CONVOLUTIONS: Final = {
    "conv_dim": [32, 32],
    "conv_kernel": [8, 8],
    "conv_stride": [4, 4],
    "num_feat_extract_layers": 2,
    "mask_time_length": 2,
    "codevector_dim": 32,
    "proj_codevector_dim": 32,
    "tdnn_dim": [32, 32],
    "tdnn_kernel": [3, 3],
    "tdnn_dilation": [1, 1],
    "xvector_output_dim": 32,
}


def _text(family: str, labels: Inputs, *pairs: str, inputs: Inputs = TOKENS) -> list[Model]:
    """Models that need no more than tokens, each given as ``type:Class``."""
    return [Model(*pair.split(":"), family, inputs, labels) for pair in pairs]


def _picture(*pairs: str) -> list[Model]:
    return [Model(*pair.split(":"), "vision", PICTURE, CLASSES) for pair in pairs]


def _speech(*pairs: str) -> list[Model]:
    return [
        Model(*pair.split(":"), "audio", WAVE, {"labels": ids(2, 4, below=30)}, CONVOLUTIONS)
        for pair in pairs
    ]


MODELS: Final[tuple[Model, ...]] = (
    *_text(
        "encoder", NEXT_TOKENS,
        "bert:BertForMaskedLM", "distilbert:DistilBertForMaskedLM", "roberta:RobertaForMaskedLM",
        "albert:AlbertForMaskedLM", "electra:ElectraForMaskedLM",
        "deberta-v2:DebertaV2ForMaskedLM", "mpnet:MPNetForMaskedLM", "funnel:FunnelForMaskedLM",
        "modernbert:ModernBertForMaskedLM", "nystromformer:NystromformerForMaskedLM",
        "yoso:YosoForMaskedLM", "ibert:IBertForMaskedLM", "convbert:ConvBertForMaskedLM",
        "squeezebert:SqueezeBertForMaskedLM", "xlm-roberta:XLMRobertaForMaskedLM",
        "fnet:FNetForMaskedLM", "xmod:XmodForMaskedLM", "roformer:RoFormerForMaskedLM",
        "longformer:LongformerForMaskedLM", "big_bird:BigBirdForMaskedLM",
        "reformer:ReformerForMaskedLM", "esm:EsmForMaskedLM",
    ),
    *_text(
        "decoder", NEXT_TOKENS,
        "gpt2:GPT2LMHeadModel", "gpt_neo:GPTNeoForCausalLM", "gpt_neox:GPTNeoXForCausalLM",
        "gptj:GPTJForCausalLM", "llama:LlamaForCausalLM", "mistral:MistralForCausalLM",
        "qwen2:Qwen2ForCausalLM", "qwen3:Qwen3ForCausalLM", "phi:PhiForCausalLM",
        "phi3:Phi3ForCausalLM", "gemma:GemmaForCausalLM", "gemma2:Gemma2ForCausalLM",
        "gemma3_text:Gemma3ForCausalLM", "falcon:FalconForCausalLM", "bloom:BloomForCausalLM",
        "opt:OPTForCausalLM", "cohere:CohereForCausalLM", "olmo2:Olmo2ForCausalLM",
        "stablelm:StableLmForCausalLM", "codegen:CodeGenForCausalLM", "ctrl:CTRLLMHeadModel",
        "openai-gpt:OpenAIGPTLMHeadModel", "xlnet:XLNetLMHeadModel", "xglm:XGLMForCausalLM",
        "flaubert:FlaubertWithLMHeadModel", "xlm:XLMWithLMHeadModel", "mamba:MambaForCausalLM",
        "mpt:MptForCausalLM", "biogpt:BioGptForCausalLM", "smollm3:SmolLM3ForCausalLM",
        "recurrent_gemma:RecurrentGemmaForCausalLM", "rwkv:RwkvForCausalLM",
    ),
    *_text(
        "mixture of experts", NEXT_TOKENS,
        "mixtral:MixtralForCausalLM", "qwen2_moe:Qwen2MoeForCausalLM",
        "qwen3_moe:Qwen3MoeForCausalLM", "olmoe:OlmoeForCausalLM", "phimoe:PhimoeForCausalLM",
        "deepseek_v3:DeepseekV3ForCausalLM", "gpt_oss:GptOssForCausalLM",
        "granitemoe:GraniteMoeForCausalLM", "jamba:JambaForCausalLM", "dbrx:DbrxForCausalLM",
    ),
    *_text(
        "encoder-decoder", TARGET_TOKENS,
        "t5:T5ForConditionalGeneration", "mt5:MT5ForConditionalGeneration",
        "bart:BartForConditionalGeneration", "mbart:MBartForConditionalGeneration",
        "pegasus:PegasusForConditionalGeneration", "marian:MarianMTModel",
        "m2m_100:M2M100ForConditionalGeneration", "fsmt:FSMTForConditionalGeneration",
        "blenderbot-small:BlenderbotSmallForConditionalGeneration",
        "led:LEDForConditionalGeneration", "longt5:LongT5ForConditionalGeneration",
        "prophetnet:ProphetNetForConditionalGeneration", "umt5:UMT5ForConditionalGeneration",
        "switch_transformers:SwitchTransformersForConditionalGeneration",
        "nllb-moe:NllbMoeForConditionalGeneration", "plbart:PLBartForConditionalGeneration",
        "bigbird_pegasus:BigBirdPegasusForConditionalGeneration",
        inputs=PAIR,
    ),
    *_picture(
        "vit:ViTForImageClassification", "deit:DeiTForImageClassification",
        "beit:BeitForImageClassification", "swin:SwinForImageClassification",
        "swinv2:Swinv2ForImageClassification", "convnext:ConvNextForImageClassification",
        "convnextv2:ConvNextV2ForImageClassification", "resnet:ResNetForImageClassification",
        "regnet:RegNetForImageClassification", "dinov2:Dinov2ForImageClassification",
        "mobilevit:MobileViTForImageClassification", "pvt:PvtForImageClassification",
        "poolformer:PoolFormerForImageClassification", "levit:LevitForImageClassification",
        "segformer:SegformerForImageClassification", "hiera:HieraForImageClassification",
        "mobilenet_v2:MobileNetV2ForImageClassification",
    ),
    *_speech(
        "wav2vec2:Wav2Vec2ForCTC", "hubert:HubertForCTC", "wavlm:WavLMForCTC",
        "unispeech:UniSpeechForCTC", "unispeech-sat:UniSpeechSatForCTC", "sew:SEWForCTC",
        "data2vec-audio:Data2VecAudioForCTC", "wav2vec2-conformer:Wav2Vec2ConformerForCTC",
    ),
)  # fmt: skip
