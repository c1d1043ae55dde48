"""The texts of users and models in the screenshots."""

# ruff: noqa: RUF001  dashes and signs as people and models write them

QUESTION = (
    "How far can you see from a lighthouse that is 40 m high? Show me the formula and a function for it."
)
REASONING = (
    "The horizon is where the line of sight touches the sphere. Right triangle: centre, tangent point, eye. "
    "So d² = (R + h)² − R². For small h the square of h can be left out. Refraction adds about 8 %."
)
ANSWER = r"""The horizon lies where your line of sight just touches the sea. With the radius of the Earth $R$ and the height $h$ of your eyes, Pythagoras gives

$$d = \sqrt{(R + h)^2 - R^2} \approx \sqrt{2 R h}$$

since $h$ is tiny beside $R$. In code:

```python
from math import sqrt

EARTH_RADIUS_M = 6_371_000


def horizon_km(height_m: float) -> float:
    "How far away the horizon is, without refraction."
    return sqrt(2 * EARTH_RADIUS_M * height_m) / 1000
```

| Eyes at | Horizon | With refraction |
| --- | ---: | ---: |
| 2 m (on the beach) | 5.0 km | 5.4 km |
| 40 m (the lighthouse) | 22.6 km | 24.4 km |
| 1 000 m (a mountain) | 113 km | 122 km |

So from your lighthouse you see about **23 km** far – and a ship with a 10 m mast shows up **34 km** away, because its own horizon adds to yours.
"""

TOOLS_QUESTION = "When is the next high tide in Husum, and can I still walk to the Hallig and back today?"
TOOLS_PLAN = "I need the tide table for today and the time there. The walk takes about two hours each way."
TOOLS_BEFORE = "Let me look that up. "
RESEARCH_TASK = (
    "How long is the walk across the mudflats to the Hallig, and what do guides say about safe times?"
)
RESEARCH_PLAN = "Find the route first, then advice on timing."
RESEARCH_REPORT = "The marked path is about 6 km long; guides start two hours before low tide [3]."
TOOLS_ANSWER = """High tide in Husum is at **17:42** today [1], low tide at 11:25. The walk across the mudflats takes about two hours each way [3], so:

1. Leave by **9:30**, two hours before low tide.
2. Be back on land by **13:30**; the tideways fill long before high tide [2].

It is past ten already: **not today**. Tomorrow low tide is at 12:14, which leaves you time for breakfast.
"""
FOUND = [
    {
        "title": "Tide tables – Husum",
        "url": "https://tides.example/husum",
        "content": "Low water 11:25, high water 17:42. Times are local; wind may shift them by up to half an hour.",
    },
    {
        "title": "Walking on the mudflats: safety",
        "url": "https://mudflats.example/safety",
        "content": "Tideways fill from behind. Turn back one hour before the water turns, and never go alone.",
    },
]
FOUND_INSIDE = [
    {
        "title": "The path to the Hallig",
        "url": "https://halligen.example/path",
        "content": "Six kilometres, marked with brushwood. Start two hours before low water.",
    }
]

COMPARED_QUESTION = "Explain to a ten-year-old why the sky is blue, in four sentences."
COMPARED = {
    "alpha": "Sunlight looks white, but it is a mix of all colours. When it comes into the air, it bumps into tiny, tiny bits of it. "
    "**Blue light bumps around the most**, like a bouncy ball in a room full of chairs. So blue comes to your eyes from everywhere "
    "in the sky – and the red light mostly just walks straight through.",
    "beta": "Imagine the sun throws coloured marbles at us. The air is a forest: big red marbles roll through it, and small blue ones "
    "hit every tree.\n\n> What bounces around is what you see.\n\nSo wherever you look up, some blue marble is just coming your way. "
    "In the evening the forest is so deep that *only the red ones* make it.",
    "gamma": "1. Light from the sun has every colour in it.\n2. Air scatters short waves more than long ones.\n3. Blue waves are short, "
    "so they are scattered all over the sky.\n4. Violet would be scattered even more, but your eyes hardly see it.",
}

AGENTS = [
    {
        "name": "Harbour pilot",
        "prompt": "You know tides, winds and charts of the North Sea. Answer briefly, name your sources.",
        "reminder": "Times are local times.",
        "tools": ["web_search", "current_time", "research_agent"],
        "models": ["alpha"],
    },
    {
        "name": "Patient teacher",
        "prompt": "Explain as to a curious child. Ask back when something is unclear.",
    },
    {
        "name": "Code reviewer",
        "prompt": "Find what is wrong first, then what could be shorter.",
        "models": ["alpha", "beta"],
    },
]
OLDER_CHATS = [
    "Names for a sailing boat",
    "Knots for beginners",
    "A letter to the harbour master",
    "Packing list for a week at sea",
]
ROUTE_QUESTION = "Plan two weeks around Iceland by bike."
ROUTE = {
    ROUTE_QUESTION: "Fourteen days are enough for the ring road if the wind is kind: **about 95 km a day**, clockwise, with two days to spare for storms.",
    "Rather three weeks.": "Then add the Westfjords: six days of gravel, few cars, and the best hot pots.",
    "And the highlands?": "Only from July on, when the F-roads open. Carry food for four days.",
    "What about the weather?": "Expect 8 to 13 °C and wind from every side. Rain is sideways.",
    "And by bus?": "Buses take bikes on the front rack; in the north they go once a day.",
    "Which maps do I need?": "One at 1 : 250 000 for the whole island, and for the highlands the four sheets at 1 : 200 000. Huts and fords are marked on both.",
    "Shorter days, please.": "Sixty kilometres a day brings you from Reykjavík to Höfn; take the bus back.",
    "Only the south coast.": "Reykjavík, Vík, Skaftafell, Höfn: nine easy days with waterfalls on the left.",
    "Start in Akureyri.": "Then the wind is at your back until Egilsstaðir.",
}

HARBOUR_BASE = {
    "name": "Harbour master's office",
    "routing_hint": "Berths, fees and complaints",
    "routing_keywords": ["berths", "fees"],
}
HANDBOOK_BASE = {
    "name": "Wadden Sea handbook",
    "summary": "Walking on the sea floor: when, where, with whom, and what to do when the water comes back early.",
    "topics": ["tides", "walks", "rescue", "birds"],
    "routing_hint": "Questions about walks and the tide",
    "routing_keywords": ["tides", "walks"],
}
# What the box finds in it.
SEARCHED = "low water"
HANDBOOK = {
    "Rules for guides": "# Groups\n\nA guide leads at most forty people, and turns back when one of them has to.\n\n"
    "# Weather\n\nNo walk starts in fog, or when thunder was heard within an hour.",
    "Reading a tide table": "# Low water\n\nLeave the shore two hours before low water and be back one hour after it: the flood runs "
    "faster through the tideways than anybody walks.\n\n# Spring tides\n\nThe lowest water follows the full moon by two days.",
    "Rescue beacons": "# Where they stand\n\nEvery beacon has a cage above the highest flood. Climb it, call 112, and wait: the water "
    "falls again within six hours.",
}
