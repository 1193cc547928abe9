"""Graph networks: convolutions, pooling that keeps some of the nodes, aggregation over sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from benchmarks.catalogues.inputs import Inputs, Model, floats, made, plain, tensor

FAMILY: Final = "graphs"
NODES: Final = 10
# Two rings of five nodes, and the same edges back.
SOURCES: Final = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
TARGETS: Final = [1, 2, 3, 4, 0, 6, 7, 8, 9, 5]
EDGES: Final = {"edge_index": tensor([SOURCES + TARGETS, TARGETS + SOURCES])}
GRAPH_OF_NODE: Final = [0] * 5 + [1] * 5
BATCH: Final = {"batch": tensor(GRAPH_OF_NODE)}
NODE_FEATURES: Final = {"x": floats(NODES, 16)}
EDGE_FEATURES: Final = {"edge_attr": floats(2 * NODES, 8)}
GRAPH: Final = {**NODE_FEATURES, **EDGES}
LAYERS: Final = {"in_channels": 16, "hidden_channels": 16, "out_channels": 8, "num_layers": 2}
SETS: Final = {**NODE_FEATURES, "index": tensor(GRAPH_OF_NODE)}


def _graph(name: str, cls: str, inputs: Inputs, config: Mapping[str, object]) -> Model:
    return Model(name, f"torch_geometric.nn.{cls}", FAMILY, inputs, {}, config, "torch_geometric")


GRAPHS: Final[tuple[Model, ...]] = (
    _graph("gcn", "GCN", GRAPH, LAYERS),
    _graph("gat", "GAT", GRAPH, {**LAYERS, "heads": 2, "v2": True}),
    _graph("gin", "GIN", GRAPH, LAYERS),
    _graph(
        "pna", "PNA", GRAPH,
        {**LAYERS, "aggregators": ["mean", "min", "max", "std"],
         "scalers": ["identity", "amplification"], "deg": made("torch.ones", 4)},
    ),
    _graph(
        "graph_unet", "GraphUNet", {**GRAPH, **BATCH},
        {"in_channels": 16, "hidden_channels": 16, "out_channels": 8, "depth": 2},
    ),
    _graph(
        "attentive_fp", "AttentiveFP", {**GRAPH, **EDGE_FEATURES, **BATCH},
        {**LAYERS, "edge_dim": 8, "num_timesteps": 2},
    ),
    _graph(
        "light_gcn", "LightGCN", EDGES, {"num_nodes": NODES, "embedding_dim": 16, "num_layers": 2}
    ),
    _graph("linkx", "LINKX", GRAPH, {**LAYERS, "num_nodes": NODES}),
    _graph(
        "polynormer", "Polynormer", {**GRAPH, **BATCH},
        {"in_channels": 16, "hidden_channels": 16, "out_channels": 8, "local_layers": 2},
    ),
    _graph(
        "sg_former", "SGFormer", {**GRAPH, **BATCH},
        {"in_channels": 16, "hidden_channels": 16, "out_channels": 8},
    ),
    _graph(
        "signed_gcn", "SignedGCN",
        {**NODE_FEATURES, "pos_edge_index": EDGES["edge_index"],
         "neg_edge_index": EDGES["edge_index"]},
        {"in_channels": 16, "hidden_channels": 16, "num_layers": 2},
    ),
    _graph(
        "rgcn_conv", "RGCNConv", {**GRAPH, "edge_type": tensor([0, 1] * NODES)},
        {"in_channels": 16, "out_channels": 8, "num_relations": 2},
    ),
    _graph(
        "gps_conv", "GPSConv", {**GRAPH, **BATCH},
        {"channels": 16, "conv": made("torch_geometric.nn.GCNConv", 16, 16), "heads": 2},
    ),
    _graph(
        "hypergraph_conv", "HypergraphConv",
        {**NODE_FEATURES, "hyperedge_index": tensor([SOURCES, GRAPH_OF_NODE])},
        {"in_channels": 16, "out_channels": 8},
    ),
    _graph("topk_pooling", "TopKPooling", {**GRAPH, **BATCH}, {"in_channels": 16}),
    _graph("sag_pooling", "SAGPooling", {**GRAPH, **BATCH}, {"in_channels": 16}),
    _graph("asa_pooling", "ASAPooling", {**GRAPH, **BATCH}, {"in_channels": 16}),
    _graph("edge_pooling", "EdgePooling", {**GRAPH, **BATCH}, {"in_channels": 16}),
    _graph(
        "mem_pooling", "MemPooling", {**NODE_FEATURES, **BATCH},
        {"in_channels": 16, "out_channels": 8, "heads": 2, "num_clusters": 2},
    ),
    _graph(
        "set_transformer", "aggr.SetTransformerAggregation", SETS, {"channels": 16, "heads": 2}
    ),
    _graph("set2set", "aggr.Set2Set", SETS, {"in_channels": 16, "processing_steps": 2}),
    _graph("sort_aggregation", "aggr.SortAggregation", SETS, {"k": 3}),
    _graph("quantile_aggregation", "aggr.QuantileAggregation", SETS, {"q": 0.5}),
    _graph("lstm_aggregation", "aggr.LSTMAggregation", SETS,
        {"in_channels": 16, "out_channels": 8}),
    _graph(
        "dense_gcn_conv", "DenseGCNConv",
        {"x": floats(2, 5, 16), "adj": floats(2, 5, 5), "mask": plain(None)},
        {"in_channels": 16, "out_channels": 8},
    ),
    _graph(
        "tgn_memory", "TGNMemory", {"n_id": tensor([0, 1, 2])},
        {
            "num_nodes": NODES, "raw_msg_dim": 8, "memory_dim": 16, "time_dim": 8,
            "message_module": made("torch_geometric.nn.models.tgn.IdentityMessage", 8, 16, 8),
            "aggregator_module": made("torch_geometric.nn.models.tgn.LastAggregator"),
        },
    ),
)  # fmt: skip
