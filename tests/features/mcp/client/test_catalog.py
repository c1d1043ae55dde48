"""What is stored of the resources and prompts that a server lists."""

from typing import Any

import pytest
from mcp_types import Prompt, Resource

from features.mcp.client.listing import describe_catalog
from features.mcp.client.listing_pages import Catalog

pytestmark = pytest.mark.pure


def described(*, resources: Any = (), prompts: Any = ()) -> dict[str, list[dict[str, Any]]]:
    catalog = Catalog(
        [Resource.model_validate(one) for one in resources], [Prompt.model_validate(one) for one in prompts]
    )
    return describe_catalog(catalog)


def test_what_people_read_is_shortened_and_what_the_server_is_asked_by_is_not() -> None:
    [resource] = described(
        resources=[
            {
                "uri": "tides://a",
                "name": "a",
                "title": "T\0i" + "d" * 300,
                "description": "x" * 2_000,
                "size": -1,
            }
        ]
    )["resources"]
    assert (resource["uri"], len(resource["name"]), len(resource["description"])) == ("tides://a", 200, 1_000)
    assert ("\0" in resource["name"], resource["size"], resource["content_type"]) == (False, None, "")


@pytest.mark.parametrize(
    "refused",
    [
        {"resources": [{"uri": "tides://" + "x" * 2_000, "name": "long"}]},
        {"resources": [{"uri": "tides://\0", "name": "NUL"}]},
        {"prompts": [{"name": "x" * 201}]},
        {"prompts": [{"name": "many", "arguments": [{"name": f"a{n}"} for n in range(21)]}]},
        {"prompts": [{"name": "nul", "arguments": [{"name": "\0"}]}]},
    ],
)
def test_what_the_server_could_not_be_asked_by_is_left_out(refused: Any) -> None:
    found = described(**refused)
    assert found["resources"] + found["prompts"] == []


def test_what_is_listed_twice_is_there_once() -> None:
    twice = [{"uri": "tides://a", "name": "a"}, {"uri": "tides://a", "name": "b"}]
    assert len(described(resources=twice)["resources"]) == 1
