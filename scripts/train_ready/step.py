"""Takes one step of training with `trl.SFTTrainer` on a toy of the Qwen3 architecture, on what the assistant says alone.

Shows that a trainer takes the rows as they are, that the assistant's words are what it learns from, and that the loss is a number.
"""
import itertools
import math
import tempfile
import time

from datasets import Dataset, Features, Json, List
from transformers import PrinterCallback, Qwen3Config, Qwen3ForCausalLM, TrainerCallback
from trl import SFTConfig, SFTTrainer

import templates

N_ROWS = 64
MAX_LENGTH = 1024
TEMPLATE = templates.FOLDER / "qwen3_training.jinja"


class Toy(Qwen3ForCausalLM):
    """Two small layers with random weights."""

    def __init__(self, tokenizer):
        super().__init__(Qwen3Config(
            vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
            num_key_value_heads=1, head_dim=16, max_position_embeddings=MAX_LENGTH, pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
        ))


class Losses(TrainerCallback):
    """Notes the losses that the trainer logs."""

    def __init__(self):
        self.found = []

    def on_log(self, args, state, control, logs=None, **kwargs):
        self.found += [logs["loss"]] if logs and "loss" in logs else []


def texts_of(rows):
    for row in rows:
        yield from templates.leaves(row["messages"])


def learned(tokenizer, row):
    """The tokens of a row within the length, and which of them are learned from."""
    done = tokenizer.apply_chat_template(row["messages"], tools=row["tools"], tokenize=True, return_dict=True,
                                         return_assistant_tokens_mask=True, truncation=True, max_length=MAX_LENGTH)
    return [token for token, is_learned in zip(done["input_ids"], done["assistant_masks"]) if is_learned], len(done["input_ids"])


def fits(tokenizer, row):
    """Whether something of the row is learned from: a long prompt may take all of the length."""
    return bool(learned(tokenizer, row)[0])


def masks(rows, template):
    """How many turns that are not for learning the marks of a template leave out, and what of them is learned all the same."""
    tokenizer = templates.tokenizer_for(texts_of(rows[:200]))
    tokenizer.chat_template = template
    n_masked, problems = 0, []
    for row in rows:
        turns = [message for message in row["messages"] if message["role"] == "assistant"]
        said = {is_learned: [turn["content"].strip() for turn in turns if turn["train"] is is_learned] for is_learned in (True, False)}
        if not said[False]:
            continue
        done = tokenizer.apply_chat_template(row["messages"], tools=row["tools"], tokenize=True, return_dict=True,
                                             return_assistant_tokens_mask=True)
        learned = tokenizer.decode([token for token, is_in in zip(done["input_ids"], done["assistant_masks"]) if is_in])
        n_masked += len(said[False])
        others = "\n".join(said[True])
        problems += [f"row {row['id']}: a turn that is for learning is not learned: {text[:60]!r}" for text in said[True]
                     if text not in learned]
        problems += [f"row {row['id']}: a turn is learned that is not for learning: {text[:60]!r}" for text in said[False]
                     if len(text) > 20 and text in learned and text not in others]
    return n_masked, problems


def take(rows, template=None):
    """One step over 64 rows, those that are there as often as it takes; what is told of it, and a problem or None."""
    tokenizer = templates.tokenizer_for(texts_of(rows[:200]))
    tokenizer.chat_template = template or TEMPLATE.read_text(encoding="utf-8")
    fitting = [row for row in rows if fits(tokenizer, row)]
    if not fitting:
        return "", f"no row has a turn of the assistant within {MAX_LENGTH} tokens"
    chosen = list(itertools.islice(itertools.cycle(fitting), N_ROWS))
    counts = [learned(tokenizer, row) for row in chosen]
    # The columns that the trainer reads, with the types that the data has.
    features = Features({"messages": List(Json()), "tools": List(Json())})
    data = Dataset.from_list([{key: row[key] for key in features} for row in chosen], features=features)
    losses = Losses()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        config = SFTConfig(
            output_dir=folder, max_steps=1, per_device_train_batch_size=4, gradient_accumulation_steps=N_ROWS // 4,
            max_length=MAX_LENGTH, assistant_only_loss=True, logging_steps=1, save_strategy="no", report_to="none",
            use_cpu=True, bf16=False, disable_tqdm=True, activation_checkpointing=False,
        )
        trainer = SFTTrainer(Toy(tokenizer), config, train_dataset=data, processing_class=tokenizer, callbacks=[losses])
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    loss = losses.found[0] if losses.found else math.nan
    n_learned, n_all = sum(len(tokens) for tokens, _ in counts), sum(n for _, n in counts)
    told = (f"One step of SFTTrainer on {len(chosen)} rows ({len({row['id'] for row in chosen})} different; {n_all} tokens, "
            f"{n_learned} of them the assistant's) took {time.monotonic() - began:.0f} s: loss {loss:.3f}, "
            f"{math.log(len(tokenizer)):.3f} by chance.")
    return told, None if math.isfinite(loss) and loss > 0 else f"the loss of the step is {loss}"
