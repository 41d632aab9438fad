"""Counts the parameters and the cache of models with transformers on torch's meta device: models.py classes|kinds|defaults TABLE.

A line of a table is an object: `name`, `config` as the file has it, and what transformers counts of the language model:
`parameters`, and `cached`, the elements of keys and values that its cache holds after 64 tokens. `cached` is missing where
the cache holds something else (latent attention, recurrent states). A model that transformers cannot build has neither, but
may have `stated`, the parameters that its authors state.
`classes` writes the default config of each causal language model, and `kinds` counts the configs that the table holds.
`defaults` writes the sizes that the classes of the families have where a file leaves them out.
"""

import json
import sys
import tempfile
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, logging
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

TOKENS = 64
# Values for defaults that are None and that the class cannot build without.
MISSING = {
    "dots1": {"n_routed_experts": 8, "n_shared_experts": 1, "num_experts_per_tok": 2},
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128, "num_experts": 8, "moe_topk": 2},
    "lfm2_moe": {"layer_types": ["full_attention"] * 32},
    "ministral": {"head_dim": 128},
    "nemotron": {"num_key_value_heads": 8},
}
# Types of the files of models whose code is not in transformers, and the type whose class has the same layers.
SAME = {
    "kimi_k2": "deepseek_v3",
    "minimax_m3": "minimax_m3_vl_text",
    "llava": "llama",
    "qwen3_vl_text": "qwen3",
    "qwen3_vl_moe_text": "qwen3_moe",
}
# Keys of models whose cache holds more in transformers than it needs: keys and values that were made from a short vector, or
# copies of grouped ones for all heads.
KEEPS_MORE = ("kv_lora_rank", "o_lora_rank", "new_decoder_architecture")
FAMILIES = Path(__file__).resolve().parents[2] / "roofline/families"
# Names of the reader whose defaults count, beside the kinds of layers.
NAMES = (
    *("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim", "v_head_dim"),
    *("intermediate_size", "vocab_size", "tie_word_embeddings", "learned_positions", "sliding_window", "use_sliding_window"),
    *("num_experts", "num_experts_per_tok", "moe_intermediate_size", "shared_expert_intermediate_size", "n_shared_experts"),
    *("first_k_dense_replace", "decoder_sparse_step", "moe_latent_size", "q_lora_rank", "kv_lora_rank", "qk_nope_head_dim"),
    *("qk_rope_head_dim", "index_n_heads", "index_head_dim", "index_topk", "multi_query", "hidden_size_per_layer_input"),
    *("vocab_size_per_layer_input", "linear_num_key_heads", "linear_num_value_heads", "linear_key_head_dim"),
    *("linear_value_head_dim", "linear_conv_kernel_dim", "mamba_num_heads", "mamba_head_dim", "ssm_state_size", "n_groups"),
    *("conv_kernel", "o_groups", "o_lora_rank", "hc_mult", "embedding_width", "attention_chunk_size"),
)
# Keys that say nothing about sizes and make a table long.
NOISE = ("id2label", "label2id", "transformers_version", "architectures", "vision_config", "audio_config")


def stored(config):
    """Return what save_pretrained writes of a config, without noise."""
    with tempfile.TemporaryDirectory() as folder:
        config.save_pretrained(folder)
        written = json.loads((Path(folder) / "config.json").read_text())
    return {key: value for key, value in written.items() if key not in NOISE}


def cached_elements(model):
    """Return the elements of keys and values after TOKENS tokens; None if the cache holds something else."""
    config = model.config.to_dict()
    if any(config.get(key) for key in KEEPS_MORE):
        return None
    try:
        tokens = torch.zeros((1, TOKENS), dtype=torch.long, device="meta")
        with torch.no_grad():
            cache = model(input_ids=tokens, use_cache=True).past_key_values
        layers = [(layer.keys, layer.values) for layer in cache.layers]
        return sum(keys.numel() + values.numel() for keys, values in layers)
    except Exception:  # recurrent states, control flow that needs numbers
        return None


def counted(config):
    """Return what transformers counts of the language model of a config; an empty object if it cannot build it."""
    try:
        with torch.device("meta"):
            language = config.get_text_config(decoder=True)
            language.tie_word_embeddings = config.tie_word_embeddings
            model = AutoModelForCausalLM.from_config(language)
    except Exception:
        return {}
    counts = {"parameters": sum(parameter.numel() for parameter in model.parameters())}
    cached = cached_elements(model.eval())
    return counts if cached is None else counts | {"cached": cached}


def config_of(values):
    """Return the config of transformers for the keys of a file; None if it has no class for them."""
    values = {key: value for key, value in values.items() if key != "quantization_config"}
    inner = values.get("text_config")
    name = values.get("model_type")
    if isinstance(inner, dict) and (inner.get("model_type") in SAME or name not in CONFIG_MAPPING):
        values = inner
        name = inner.get("model_type")
    if name != "llava" or inner is None:
        name = SAME.get(name, name)
    try:
        return CONFIG_MAPPING[name].from_dict(values)
    except Exception as error:
        print(f"{name}: {error}", file=sys.stderr)
        return None


def classes():
    """Yield a line for each class of causal language models."""
    for name in sorted(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES):
        try:
            config = CONFIG_MAPPING[name](**MISSING.get(name, {}))
        except Exception as error:
            print(f"{name}: no default config: {error}", file=sys.stderr)
            continue
        print(name, file=sys.stderr)
        yield {"name": name, "config": stored(config)} | counted(config)


def kinds(table):
    """Yield the lines of a table with their counts."""
    for line in table.read_text().splitlines():
        row = json.loads(line)
        config = config_of(row["config"])
        print(row["name"], file=sys.stderr)
        kept = {key: row[key] for key in ("name", "config", "stated") if key in row}
        yield kept | (counted(config) if config is not None else {})


def family_of(tables, name):
    """Return a family with what it takes from others."""
    own = tables[name]
    base = family_of(tables, own["like"]) if "like" in own else {}
    return base | own | {"keys": base.get("keys", {}) | own.get("keys", {})}


def leading_dense(kinds):
    """Return the number of dense layers before the first with experts; None if a dense one follows."""
    dense = kinds.index("sparse") if "sparse" in kinds else len(kinds)
    return dense if "dense" not in kinds[dense:] else None


def values_of(config, keys):
    """Return the values of the names in NAMES that a config has."""
    stored = config.to_dict()
    found = {}
    for name in NAMES:
        values = [stored[key] for key in keys.get(name, [name]) if stored.get(key) is not None]
        if values and isinstance(values[0], (bool, int, float)):
            found[name] = values[0]
    if "num_experts" not in found:
        found = {name: value for name, value in found.items() if "expert" not in name and not name.startswith("moe_")}
    if "multi_query" in found:
        found.pop("num_key_value_heads", None)
    kinds = stored.get("mlp_layer_types")
    if kinds and "first_k_dense_replace" not in found and leading_dense(kinds) is not None:
        found["first_k_dense_replace"] = leading_dense(kinds)
    return found


def defaults():
    """Return the defaults of each family that has a class, without those that follow from other values."""
    tables = {}
    for path in sorted(FAMILIES.glob("*.json")):
        if path.stem not in ("common", "defaults"):
            tables |= json.loads(path.read_text())
    common = json.loads((FAMILIES / "common.json").read_text())["keys"]
    found = {}
    for name in sorted(tables):
        family = family_of(tables, name)
        if "refused" in family or name not in CONFIG_MAPPING or name != family.get("text", name):
            continue
        keys = common | family["keys"]
        try:
            values = values_of(CONFIG_MAPPING[name](**MISSING.get(name, {})), keys)
        except Exception as error:
            print(f"{name}: no defaults: {error}", file=sys.stderr)
            continue
        for changed in ("num_attention_heads", "hidden_size", "num_hidden_layers"):
            values = {key: value for key, value in values.items() if key == changed or keeps(name, keys, changed, values, key)}
        found[name] = {key: value for key, value in values.items() if key not in MISSING.get(name, {})}
    return found


def keeps(name, keys, changed, values, key):
    """Return whether a default stays the same when another value is twice as large."""
    if changed not in values:
        return True
    own = next((k for k in keys.get(changed, [changed]) if k in CONFIG_MAPPING[name]().to_dict()), changed)
    try:
        config = CONFIG_MAPPING[name](**(MISSING.get(name, {}) | {own: 2 * values[changed]}))
    except Exception:
        return False
    return values_of(config, keys).get(key) == values[key]


def main():
    """Write a table."""
    logging.set_verbosity_error()
    what, path = sys.argv[1], Path(sys.argv[2])
    if what == "defaults":
        rows = [f"  {json.dumps(name)}: {json.dumps(values, sort_keys=True)}" for name, values in defaults().items()]
        path.write_text("{\n" + ",\n".join(rows) + "\n}\n")
        return
    rows = list(classes() if what == "classes" else kinds(path))
    path.write_text("".join(json.dumps(row, sort_keys=True, separators=(",", ":")) + "\n" for row in rows))


if __name__ == "__main__":
    main()
