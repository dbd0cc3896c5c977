"""Proves before each use that the checks find what they look for: a row that is hard and right, and the same row with a fault.

Knows the checks by what they say.
"""
import copy
import sys

import rows
import templates

HARD = {
    "id": "hard",
    "messages": [
        {"role": "system", "content": 'None of {"a": 1} is wrong.'},
        {"role": "user", "content": "Read it, None said."},
        {"role": "assistant", "content": "", "reasoning_content": "None?", "tool_calls": [{"id": "c1", "type": "function", "function": {
            "name": "read", "arguments": {"path": 'a\\b\t"c"', "text": '{"k": "None"}', "limit": None, "deep": [{"x": "it's\n"}]}}}]},
        {"role": "tool", "tool_call_id": "c1", "name": "read", "content": '{"r": None}'},
        {"role": "assistant", "content": 'It says "None":\n\n\tdone\\n'},
    ],
    "tools": [{"type": "function", "function": {"name": "read", "description": "None", "parameters": {
        "type": "object", "properties": {"path": {"type": "string", "default": None}}}}}],
}


def text_for_arguments(messages):
    messages[2]["tool_calls"][0]["function"]["arguments"] = '{"path": "a"}'


def no_content(messages):
    messages[4]["content"] = None


def unknown_role(messages):
    messages[0]["role"] = "developer"


def name_as_none(messages):
    messages[2]["tool_calls"][0]["function"]["name"] = "None"


FAULTS = [
    (text_for_arguments, "arguments are encoded twice"),
    (no_content, "None stands in content"),
    (unknown_role, "what developer says is not in the rendering"),
    (name_as_none, "None stands in the rendering"),
]


def said_of(row):
    """All that the checks say of a row."""
    of_rows = [rows.problem_of_message(message) for message in row["messages"]]
    of_templates = [problem for family in templates.FAMILIES for problem in templates.render_all(family, [row]).problems]
    return [problem for problem in of_rows + of_templates if problem]


def demand():
    """Ends the program where a check says something of the row that is right, or nothing of a fault."""
    wrong = said_of(HARD)
    for fault, expected in FAULTS:
        row = copy.deepcopy(HARD)
        fault(row["messages"])
        wrong += [] if any(expected in problem for problem in said_of(row)) else [f"{fault.__name__} is not found"]
    if wrong:
        sys.exit("error: the checks themselves fail: " + "; ".join(wrong))
