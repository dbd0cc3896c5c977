"""One conversation at a time."""

import json
import pickle
import subprocess
from concurrent.futures import ThreadPoolExecutor

import condenser
import pytest
from conftest import chat, record


@pytest.mark.parametrize("conversation", [chat(), {"id": "a", "n": 1.5, "messages": chat()}, record(id="a")])
def test_it_comes_back_as_what_it_was(conversation):
    compressed = condenser.compress(conversation, recency_window=1)
    assert type(compressed.conversation) is type(conversation)
    assert len(str(compressed.conversation)) < len(str(conversation)) / 3
    assert condenser.restore(compressed.conversation, compressed.sidecar) == conversation
    assert compressed.restore() == condenser.restore(compressed) == conversation
    assert compressed.metrics["chars_in"] > compressed.metrics["chars_out"]
    actions = [decision["action"] for decision in compressed.decisions]
    assert actions == ["preserved", "compressed", "preserved"] or actions[1] != "preserved"
    assert "1 failed" in compressed.messages[1]["content"]


def test_every_record_of_the_corpora_comes_back_byte_for_byte(corpora):
    for name, records in corpora.items():
        for text in records:
            compressed = condenser.compress(text)
            assert condenser.restore(compressed.conversation, compressed.sidecar) == text, name


def test_the_same_as_the_command_line(corpora, cli):
    for records in corpora.values():
        said = subprocess.run(
            [cli, "compress", "-", "-q"], input="".join(f"{text}\n" for text in records), capture_output=True, text=True, check=True
        )
        assert [condenser.compress(text).conversation for text in records] == said.stdout.splitlines()


def test_what_is_no_conversation_is_told():
    with pytest.raises(condenser.InputError, match="unknown_shape"):
        condenser.compress({"some": "thing"})
    with pytest.raises(condenser.InputError, match="cannot be written as JSON"):
        condenser.compress([{"role": "user", "content": {1, 2}}])
    with pytest.raises(condenser.InputError, match="would not come back the same"):
        condenser.compress([{"role": "user", "content": "Hi", "meta": {1: "a"}}])
    with pytest.raises(condenser.UsageError, match="did you mean `recency_window`"):
        condenser.compress(chat(), recency_windw=1)
    with pytest.raises(condenser.UsageError, match="it takes a job"):
        condenser.compress(chat(), output="run")
    with pytest.raises(condenser.UsageError, match="no such tokenizer file"):
        condenser.compress(chat(), tokenizer="none.json")
    assert issubclass(condenser.UsageError, condenser.CondenserError)


@pytest.mark.parametrize(
    ("text", "said"),
    [("\ufeff{}", "invalid_json"), ("", "invalid_json"), ('{"messages": NaN}', "invalid_json"), ("{}", "unknown_shape")],
)
def test_what_is_no_json_is_told_as_such(text, said):
    with pytest.raises(condenser.InputError, match=said):
        condenser.compress(text)


def test_what_is_no_conversation_at_all_is_a_type_error():
    for given in (None, 3, b"{}"):
        with pytest.raises(TypeError, match="a conversation is"):
            condenser.compress(given)
    with pytest.raises(condenser.InputError, match="surrogate"):
        condenser.compress("\ud83d")
    with pytest.raises(TypeError, match="of a text"):
        condenser.count_tokens(chat())

    class Message(dict):
        pass

    class Sdk:
        def model_dump(self):
            return {"role": "user", "content": "Hi"}

    with pytest.raises(condenser.InputError, match="model_dump"):
        condenser.compress([Sdk()])
    assert condenser.compress([Message(role="user", content="Hi")]).restore() == [{"role": "user", "content": "Hi"}]


@pytest.mark.parametrize("key", ["target_ratio", "trace", "format", "messages_column", "threads", "split_size"])
def test_what_cannot_be_followed_is_refused(key):
    with pytest.raises(condenser.UsageError, match=f"{key}: this cannot be followed here|{key}: unknown"):
        condenser.compress(chat(), **{key: "x" if key == "messages_column" else 1})


@pytest.mark.parametrize(
    "record",
    [
        {"traj": chat()},
        {"history": chat(), "trajectory": []},
        {"dialog": ["Hi there", "Hello, what can I do?", "Tell me of the night. " * 90, "Thanks"]},
        {"id": "a", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello. " * 400}]},
    ],
)
def test_messages_are_found_in_every_shape(record):
    compressed = condenser.compress(record, recency_window=1)
    assert len(compressed.decisions) == len(compressed._messages(record)) > 1
    assert compressed.messages and "<tr>" in compressed._repr_html_()
    assert compressed.restore() == record


def test_what_was_changed_is_told():
    compressed = condenser.compress(chat(), recency_window=1)
    compressed.conversation[0]["content"] = "Why not?"
    with pytest.raises(condenser.VerificationError):
        compressed.restore()
    with pytest.raises(condenser.VerificationError, match="no sidecar"):
        condenser.restore(compressed.conversation, "{}")
    with pytest.raises(condenser.VerificationError, match="no sidecar"):
        condenser.restore(condenser.compress(chat()), "{}")
    with pytest.raises(condenser.UsageError, match="needs the sidecar"):
        condenser.restore(compressed.conversation)


def test_odd_texts_come_back():
    odd = [{"role": "user", "content": "half \ud83d of it, \x00, é, \u2028"}, {"role": "assistant", "content": "Aha. " * 400}]
    assert condenser.compress(odd).restore() == odd


def test_options_are_values():
    options = condenser.Options(condenser.Options(recency_window=2), token_budget=1000, keep_answers=None)
    assert dict(options) == {"recency_window": 2, "token_budget": 1000}
    assert pickle.loads(pickle.dumps(options)) == options
    assert condenser.compress(chat(), options=options).conversation == condenser.compress(chat(), **options).conversation


def test_tokens_are_counted():
    assert condenser.count_tokens("Why does the nightly job fail?") == 7
    assert condenser.count_tokens(["", "one two"], "cl100k_base") == [0, 2]
    assert condenser.count_tokens("éé" * 40, "chars") == 23


def test_notebooks_show_before_and_after():
    messages = chat()
    messages[0]["content"] = "<script>alert(1)</script> " + messages[0]["content"]
    page = condenser.compress(messages, recency_window=1)._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page
    assert "the same" in page and "disk full" in page and "characters" in page
    assert "characters" in repr(condenser.compress(messages))


def test_threads_share_a_compressor():
    texts = [record(n) for n in range(40, 80)]
    alone = [condenser.compress(text).conversation for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: condenser.compress(text).conversation, texts)) == alone
    assert json.loads(alone[0])
