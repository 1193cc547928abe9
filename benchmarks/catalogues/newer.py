"""Types that run with a shrunk configuration as it is, or nearly: the breadth of the catalogue."""

from __future__ import annotations

from typing import Final

from benchmarks.catalogues.inputs import CLASSES, NEXT_TOKENS, TOKENS, Model, family, ids
from benchmarks.catalogues.multimodal import BOTH, IMAGE_LABELS, IMAGE_TOKEN, WITH_IMAGE
from benchmarks.catalogues.text import PAIR, TARGET_TOKENS
from benchmarks.catalogues.vision import BIGGER, PICTURE

IMAGE_IDS: Final = {"image_token_id": IMAGE_TOKEN, "image_token_index": IMAGE_TOKEN}

NEWER: Final[tuple[Model, ...]] = (
    *family(
        "decoder", TOKENS, NEXT_TOKENS,
        "apertus:ApertusForCausalLM", "bert-generation:BertGenerationDecoder",
        "bitnet:BitNetForCausalLM", "blenderbot:BlenderbotForCausalLM",
        "cohere2:Cohere2ForCausalLM", "cpmant:CpmAntForCausalLM", "diffllama:DiffLlamaForCausalLM",
        "ernie:ErnieForCausalLM", "exaone4:Exaone4ForCausalLM",
        "falcon_mamba:FalconMambaForCausalLM", "fuyu:FuyuForCausalLM",
        "gemma4_text:Gemma4ForCausalLM", "glm4:Glm4ForCausalLM",
        "gpt_bigcode:GPTBigCodeForCausalLM", "gpt_neox_japanese:GPTNeoXJapaneseForCausalLM",
        "granite:GraniteForCausalLM", "helium:HeliumForCausalLM", "lfm2:Lfm2ForCausalLM",
        "modernbert-decoder:ModernBertDecoderForCausalLM", "moshi:MoshiForCausalLM",
        "nanochat:NanoChatForCausalLM", "olmo_hybrid:OlmoHybridForCausalLM",
        "persimmon:PersimmonForCausalLM", "phi4_multimodal:Phi4MultimodalForCausalLM",
        "qwen3_next:Qwen3NextForCausalLM", "starcoder2:Starcoder2ForCausalLM",
        "trocr:TrOCRForCausalLM", "vaultgemma:VaultGemmaForCausalLM",
    ),
    *family(
        "mixture of experts", TOKENS, NEXT_TOKENS,
        "afmoe:AfmoeForCausalLM", "cohere2_moe:Cohere2MoeForCausalLM",
        "deepseek_v4:DeepseekV4ForCausalLM", "doge:DogeForCausalLM",
        "flex_olmo:FlexOlmoForCausalLM", "glm4_moe:Glm4MoeForCausalLM",
        "jetmoe:JetMoeForCausalLM", "llama4_text:Llama4ForCausalLM",
        "mimo_v2_flash:MiMoV2FlashForCausalLM", "minimax:MiniMaxForCausalLM",
        "qwen3_5_moe_text:Qwen3_5MoeForCausalLM",
    ),
    *family(
        "encoder", TOKENS, NEXT_TOKENS,
        "camembert:CamembertForMaskedLM", "data2vec-text:Data2VecTextForMaskedLM",
        "eurobert:EuroBertForMaskedLM", "luke:LukeForMaskedLM", "mra:MraForMaskedLM",
        "nomic_bert:NomicBertForMaskedLM", "roberta-prelayernorm:RobertaPreLayerNormForMaskedLM",
        "roc_bert:RoCBertForMaskedLM", "ultravbert:UltraVBertForMaskedLM",
        "xlm-roberta-xl:XLMRobertaXLForMaskedLM",
    ),
    *family(
        "encoder", TOKENS, CLASSES,
        "canine:CanineForSequenceClassification", "markuplm:MarkupLMForSequenceClassification",
    ),
    *family(
        "encoder-decoder", PAIR, TARGET_TOKENS,
        "pegasus_x:PegasusXForConditionalGeneration", "seamless_m4t:SeamlessM4TForTextToText",
        "seamless_m4t_v2:SeamlessM4Tv2ForTextToText", "t5gemma:T5GemmaForConditionalGeneration",
    ),
    *family(
        "vision", BIGGER, CLASSES,
        "data2vec-vision:Data2VecVisionForImageClassification",
        "dinov2_with_registers:Dinov2WithRegistersForImageClassification",
        "hgnet_v2:HGNetV2ForImageClassification", "mobilenet_v1:MobileNetV1ForImageClassification",
        "pp_lcnet:PPLCNetForImageClassification", "textnet:TextNetForImageClassification",
    ),
    *family("vision", BIGGER, {}, "dinov3_vit:DINOv3ViTModel"),
    *family("vision", PICTURE, {}, "aimv2:Aimv2VisionModel"),
    *family(
        "vision", BIGGER, {"labels": ids(2, 64, 64, below=2)},
        "upernet:UperNetForSemanticSegmentation",
    ),
    *family("multimodal", BOTH, {}, "clipseg:CLIPSegModel", "owlv2:Owlv2Model"),
    *(
        Model(kind, cls, "multimodal", WITH_IMAGE, IMAGE_LABELS, IMAGE_IDS)
        for kind, cls in (
            ("deepseek_vl", "DeepseekVLForConditionalGeneration"),
            ("evolla", "EvollaForProteinText2Text"),
            ("ovis2", "Ovis2ForConditionalGeneration"),
        )
    ),
)  # fmt: skip
