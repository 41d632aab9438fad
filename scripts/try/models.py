"""Counts the parameters and the cache of models with transformers on torch's meta device: models.py classes|kinds TABLE.

A line of a table is an object: `name`, `config` as the file has it, and what transformers counts of the language model:
`parameters`, and `cached`, the elements of keys and values that its cache holds after 64 tokens. `cached` is missing where
the cache holds something else (latent attention, recurrent states). A model that transformers cannot build has neither, but
may have `stated`, the parameters that its authors state.
`classes` writes the default config of each causal language model, and `kinds` counts the configs that the table holds.
"""

import json
import signal
import sys
import tempfile
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, logging
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

TOKENS = 64
LONGEST_PASS_S = 20  # of a pass without arithmetic
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
# Keys that say nothing about sizes and make a table long.
NOISE = ("id2label", "label2id", "transformers_version", "architectures", "vision_config", "audio_config")


def stop_pass(*_):
    """Stop a pass that takes too long."""
    raise TimeoutError


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
    signal.alarm(LONGEST_PASS_S)
    try:
        tokens = torch.zeros((1, TOKENS), dtype=torch.long, device="meta")
        with torch.no_grad():
            cache = model(input_ids=tokens, use_cache=True).past_key_values
        layers = [(layer.keys, layer.values) for layer in cache.layers]
        return sum(keys.numel() + values.numel() for keys, values in layers)
    except Exception:  # recurrent states, control flow that needs numbers
        return None
    finally:
        signal.alarm(0)


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


def main():
    """Write a table."""
    logging.set_verbosity_error()
    signal.signal(signal.SIGALRM, stop_pass)
    what, path = sys.argv[1], Path(sys.argv[2])
    rows = list(classes() if what == "classes" else kinds(path))
    path.write_text("".join(json.dumps(row, sort_keys=True, separators=(",", ":")) + "\n" for row in rows))


if __name__ == "__main__":
    main()
