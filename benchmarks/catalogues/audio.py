"""Models of sound and speech."""

from __future__ import annotations

from typing import Final

from benchmarks.catalogues.inputs import CLASSES, Model, floats, ids, ones

FAMILY: Final = "audio"
WAVE: Final = {"input_values": floats(2, 3200)}
LABELS: Final = {"labels": ids(2, 4, below=30)}
CONVOLUTIONS: Final = {
    "conv_dim": [32, 32], "conv_kernel": [8, 8], "conv_stride": [4, 4],
    "num_feat_extract_layers": 2, "mask_time_length": 2, "codevector_dim": 32,
    "proj_codevector_dim": 32, "tdnn_dim": [32, 32], "tdnn_kernel": [3, 3],
    "tdnn_dilation": [1, 1], "xvector_output_dim": 32, "vocab_size": 32,
}  # fmt: skip

SPEECH: Final = [
    pair.split(":")
    for pair in (
    "wav2vec2:Wav2Vec2ForCTC", "hubert:HubertForCTC", "wavlm:WavLMForCTC",
    "unispeech:UniSpeechForCTC", "unispeech-sat:UniSpeechSatForCTC", "sew:SEWForCTC",
    "data2vec-audio:Data2VecAudioForCTC", "wav2vec2-conformer:Wav2Vec2ConformerForCTC",
    "sew-d:SEWDForCTC",
    )
]  # fmt: skip

AUDIO: Final[tuple[Model, ...]] = (
    *(Model(kind, cls, FAMILY, WAVE, LABELS, CONVOLUTIONS) for kind, cls in SPEECH),
    Model(
        "whisper", "WhisperForConditionalGeneration", FAMILY,
        {"input_features": floats(2, 16, 64), "decoder_input_ids": ids(2, 8)},
        {"labels": ids(2, 8)}, {"max_source_positions": 32},
    ),
    Model(
        "speech_to_text", "Speech2TextForConditionalGeneration", FAMILY,
        {"input_features": floats(2, 32, 16), "decoder_input_ids": ids(2, 8)},
        {"labels": ids(2, 8)},
        {"input_feat_per_channel": 16, "conv_channels": 32},
    ),
    Model(
        "audio-spectrogram-transformer", "ASTForAudioClassification", FAMILY,
        {"input_values": floats(2, 32, 16)}, CLASSES, {"max_length": 32},
    ),
    Model(
        "encodec", "EncodecModel", FAMILY, {"input_values": floats(1, 1, 640)}, {},
        {"num_filters": 4, "codebook_size": 16, "codebook_dim": 16, "hidden_size": 16,
         "upsampling_ratios": [4, 2]},
    ),
    Model(
        "dac", "DacModel", FAMILY, {"input_values": floats(1, 1, 640)}, {},
        {
            "encoder_hidden_size": 8, "decoder_hidden_size": 32, "hidden_size": 32,
            "codebook_size": 16, "n_codebooks": 2, "downsampling_ratios": [2, 4],
            "upsampling_ratios": [4, 2],
        },
    ),
    Model(
        "wav2vec2-bert", "Wav2Vec2BertForCTC", FAMILY,
        {"input_features": floats(2, 32, 16)}, LABELS,
        {"feature_projection_input_dim": 16, "vocab_size": 32, "mask_time_length": 2},
    ),
    Model(
        "fastspeech2_conformer", "FastSpeech2ConformerModel", FAMILY,
        {"input_ids": ids(2, 16, below=70)}, {},
        {"vocab_size": 78},
    ),
    Model(
        "vits", "VitsModel", FAMILY, {"input_ids": ids(1, 12, below=30)}, {},
        {"vocab_size": 38, "flow_size": 32, "upsample_initial_channel": 32,
         "upsample_rates": [4, 2], "upsample_kernel_sizes": [8, 4], "spectrogram_bins": 16},
    ),
    Model(
        "moonshine", "MoonshineForConditionalGeneration", FAMILY,
        {"input_values": floats(2, 6400), "decoder_input_ids": ids(2, 8)}, {"labels": ids(2, 8)},
    ),
    Model(
        "speecht5", "SpeechT5ForSpeechToText", FAMILY,
        {**WAVE, "attention_mask": ones(2, 3200), "decoder_input_ids": ids(2, 8)},
        {"labels": ids(2, 8)},
        {"conv_dim": [32, 32], "conv_kernel": [8, 8], "conv_stride": [4, 4],
         "num_feat_extract_layers": 2, "mask_time_length": 2, "vocab_size": 128},
    ),
    Model(
        "parakeet_ctc", "ParakeetForCTC", FAMILY,
        {"input_features": floats(2, 64, 16), "attention_mask": ones(2, 64)},
        LABELS, {"vocab_size": 32},
    ),
)  # fmt: skip
