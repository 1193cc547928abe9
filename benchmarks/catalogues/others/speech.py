"""Speech: recognisers, separators, synthesis, features, searches and quantizers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from benchmarks.catalogues.inputs import Inputs, Model, floats, ids, made, tensor

FAMILY: Final = "speech"
FRAMES: Final = {"x": floats(2, 20, 16)}
LENGTHS: Final = tensor([1.0, 0.5])
WAVE: Final = floats(2, 1600)


def _speech(name: str, cls: str, inputs: Inputs, config: Mapping[str, object]) -> Model:
    return Model(name, f"speechbrain.{cls}", FAMILY, inputs, {}, config, "speechbrain")


def _audio(name: str, cls: str, inputs: Inputs, config: Mapping[str, object]) -> Model:
    return Model(name, f"torchaudio.models.{cls}", FAMILY, inputs, {}, config, "torchaudio")


SPEECH: Final[tuple[Model, ...]] = (
    _speech("ecapa_tdnn", "lobes.models.ECAPA_TDNN.ECAPA_TDNN", {**FRAMES, "lengths": LENGTHS},
            {"input_size": 16, "channels": [16] * 5, "attention_channels": 8,
             "res2net_scale": 2, "se_channels": 8, "lin_neurons": 8}),
    _speech("xvector", "lobes.models.Xvector.Xvector", {**FRAMES, "lens": LENGTHS},
            {"in_channels": 16, "tdnn_channels": [16] * 5, "lin_neurons": 8}),
    _speech("crdnn", "lobes.models.CRDNN.CRDNN", FRAMES,
            {"input_shape": [2, 20, 16], "cnn_channels": [4, 4], "rnn_neurons": 8,
             "dnn_neurons": 8}),
    _speech("transformer_asr", "lobes.models.transformer.TransformerASR.TransformerASR",
            {"src": floats(2, 20, 16), "tgt": ids(2, 6, below=20), "wav_len": LENGTHS},
            {"tgt_vocab": 20, "input_size": 16, "d_model": 16, "nhead": 2,
             "num_encoder_layers": 1, "num_decoder_layers": 1, "d_ffn": 16}),
    _speech("conformer_encoder", "lobes.models.transformer.Conformer.ConformerEncoder",
            {"src": floats(2, 20, 16), "pos_embs": floats(1, 39, 16)},
            {"num_layers": 1, "d_model": 16, "d_ffn": 16, "nhead": 2, "kernel_size": 3,
             "layerdrop_prob": 0.1}),
    _speech("branchformer", "lobes.models.transformer.Branchformer.BranchformerEncoder",
            {"src": floats(2, 20, 16), "pos_embs": floats(1, 39, 16)},
            {"num_layers": 1, "d_model": 16, "nhead": 2, "csgu_linear_units": 16,
             "kernel_size": 3}),
    _speech("sepformer", "lobes.models.dual_path.Dual_Path_Model", {"x": floats(1, 16, 40)},
            {"in_channels": 16, "out_channels": 16, "K": 8, "num_spks": 2,
             "intra_model": made("speechbrain.lobes.models.dual_path.SBTransformerBlock",
                                 num_layers=1, d_model=16, nhead=2, d_ffn=16),
             "inter_model": made("speechbrain.lobes.models.dual_path.SBTransformerBlock",
                                 num_layers=1, d_model=16, nhead=2, d_ffn=16)}),
    _speech("hifigan", "lobes.models.HifiGAN.HifiganGenerator", {"x": floats(1, 16, 8)},
            {"in_channels": 16, "out_channels": 1, "resblock_type": "1",
             "resblock_dilation_sizes": [[1, 3, 5]], "resblock_kernel_sizes": [3],
             "upsample_kernel_sizes": [4, 4], "upsample_initial_channel": 16,
             "upsample_factors": [2, 2]}),
    _speech("tacotron2_decoder", "lobes.models.Tacotron2.Decoder",
            {"memory": floats(2, 6, 16), "decoder_inputs": floats(2, 8, 4),
             "memory_lengths": tensor([6, 5])},
            {"n_mel_channels": 8, "encoder_embedding_dim": 16, "attention_dim": 8,
             "attention_location_n_filters": 4, "attention_location_kernel_size": 3,
             "attention_rnn_dim": 16, "decoder_rnn_dim": 16, "prenet_dim": 8}),
    _speech("gru", "nnet.RNN.GRU", {**FRAMES, "lengths": LENGTHS},
            {"hidden_size": 8, "input_size": 16}),
    _speech("ligru", "nnet.RNN.LiGRU", FRAMES, {"hidden_size": 8, "input_shape": [2, 20, 16]}),
    _speech("quasi_rnn", "nnet.RNN.QuasiRNN", FRAMES, {"hidden_size": 8, "input_size": 16}),
    _speech("attentional_decoder", "nnet.RNN.AttentionalRNNDecoder",
            {"inp_tensor": floats(2, 5, 8), "enc_states": floats(2, 20, 16), "wav_len": LENGTHS},
            {"rnn_type": "gru", "attn_type": "content", "hidden_size": 8, "attn_dim": 8,
             "num_layers": 1, "enc_dim": 16, "input_size": 8}),
    _speech("greedy_searcher", "decoders.seq2seq.S2SRNNGreedySearcher",
            {"enc_states": floats(2, 10, 16), "wav_len": LENGTHS},
            {"bos_index": 0, "eos_index": 0, "min_decode_ratio": 0.0, "max_decode_ratio": 0.5,
             "embedding": made("torch.nn.Embedding", 12, 8),
             "linear": made("torch.nn.Linear", 8, 12),
             "decoder": made("speechbrain.nnet.RNN.AttentionalRNNDecoder", rnn_type="gru",
                             attn_type="content", hidden_size=8, attn_dim=8, num_layers=1,
                             enc_dim=16, input_size=8)}),
    _speech("beam_searcher", "decoders.seq2seq.S2SRNNBeamSearcher",
            {"enc_states": floats(2, 10, 16), "wav_len": LENGTHS},
            {"bos_index": 0, "eos_index": 0, "min_decode_ratio": 0.0, "max_decode_ratio": 0.5,
             "beam_size": 2, "embedding": made("torch.nn.Embedding", 12, 8),
             "linear": made("speechbrain.nnet.linear.Linear", 12, input_size=8),
             "decoder": made("speechbrain.nnet.RNN.AttentionalRNNDecoder", rnn_type="gru",
                             attn_type="content", hidden_size=8, attn_dim=8, num_layers=1,
                             enc_dim=16, input_size=8)}),
    _speech("gumbel_quantizer", "nnet.quantisers.GumbelVectorQuantizer", FRAMES,
            {"input_dim": 16, "num_vars": 8, "temp_tuple": (2.0, 0.25, 0.9), "groups": 2,
             "vq_dim": 16}),
    _speech("random_quantizer", "nnet.quantisers.RandomProjectionQuantizer", FRAMES,
            {"input_dim": 16, "cb_dim": 8, "cb_vocab": 16}),
    _speech("fbank", "lobes.features.Fbank", {"wav": WAVE}, {"n_mels": 16}),
    _speech("leaf", "lobes.features.Leaf", {"x": floats(2, 3200, 1)},
            {"out_channels": 8, "in_channels": 1}),
    _speech("drop_chunk", "augment.time_domain.DropChunk",
            {"waveforms": WAVE, "lengths": LENGTHS}, {}),
    _speech("spectrogram_drop", "augment.freq_domain.SpectrogramDrop",
            {"spectrogram": floats(2, 40, 16)}, {}),
    _speech("statistics_pooling", "nnet.pooling.StatisticsPooling",
            {**FRAMES, "lengths": LENGTHS}, {}),
    _audio("conformer", "Conformer", {"input": floats(2, 20, 16), "lengths": tensor([20, 12])},
           {"input_dim": 16, "num_heads": 2, "ffn_dim": 16, "num_layers": 1,
            "depthwise_conv_kernel_size": 3}),
    _audio("emformer", "Emformer", {"input": floats(2, 24, 16), "lengths": tensor([20, 12])},
           {"input_dim": 16, "num_heads": 2, "ffn_dim": 16, "num_layers": 1,
            "segment_length": 4, "right_context_length": 4}),
    _audio("conv_tasnet", "ConvTasNet", {"input": floats(1, 1, 400)},
           {"enc_num_feats": 8, "msk_num_feats": 8, "msk_num_hidden_feats": 8,
            "msk_num_layers": 2, "msk_num_stacks": 1}),
)  # fmt: skip
