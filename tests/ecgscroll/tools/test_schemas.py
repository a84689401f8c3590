"""Function-calling schemas: what a model may send is what the parser takes."""

from __future__ import annotations

import json

import pytest

from ecgscroll.environment.actions import parse_action
from ecgscroll.errors import ConfigError
from ecgscroll.tools.registry import DIAGNOSTIC_TOOLS, SIGNAL_TOOLS, tool_names
from ecgscroll.tools.schemas import TOOL_HELP, tool_schemas


def parameters(dx, name):
    found = {schema["function"]["name"]: schema["function"] for schema in tool_schemas(dx)}
    return found[name]["parameters"]


@pytest.mark.parametrize("dx", ["reference", "signal", None])
def test_measure_offers_the_tools_of_the_tier(dx):
    offered = parameters(dx, "measure")["properties"]["tool"]
    assert tuple(offered["enum"]) == tool_names(dx)
    assert set(DIAGNOSTIC_TOOLS).isdisjoint(offered["enum"]) == (dx is None)
    assert all((name in offered["description"]) == (name in tool_names(dx)) for name in TOOL_HELP)


@pytest.mark.parametrize("name", ["skim", "measure", "write", "finish"])
def test_the_parser_takes_what_a_schema_describes(name):
    example = {"number": 1, "string": "get_qrs", "boolean": True}
    schema = parameters(None, name)
    arguments = {
        key: example[kind if isinstance(kind := value["type"], str) else kind[0]]
        for key, value in schema["properties"].items()
    }
    if "t1" in arguments:
        arguments["t1"] = 2
    parse_action({"name": name, "arguments": arguments}, SIGNAL_TOOLS)
    assert schema["additionalProperties"] is False


def test_schemas_are_json_and_not_shared():
    first = tool_schemas("signal")
    json.dumps(first)
    first[1]["function"]["parameters"]["properties"]["t0"]["type"] = "junk"
    assert parameters("signal", "measure")["properties"]["t0"]["type"] == "number"


def test_an_unknown_tier_is_a_config_error():
    with pytest.raises(ConfigError, match="no dx tier 'all'"):
        tool_schemas("all")
