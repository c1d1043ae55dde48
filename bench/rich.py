"""An OpenAI-compatible upstream that streams typical model Markdown: prose, lists, tables, code, formulas. Plain ASGI.

Model `rich-<N>x<R>`: N tokens of about four characters at R tokens/s.
"""

import asyncio
import re
import time

import msgspec

from bench.upstream import (
    DONE,
    HEAD,
    TAIL,
    Receive,
    Scope,
    Send,
    complete_response,
    decode,
    read_body,
    respond,
    send_part,
    start_response,
)

MODEL = re.compile(r"rich-(\d+)x(\d+)")
TOKEN = re.compile(r"\s*\S{1,4}|\s+")
SECTION = """
## Section {n}: what the tide does

Twice a day the sea rises, by **{n} metres** or less, *wherever* the Moon stands; see [the tables](https://example.org/{n})
and `tides.py`. The pull goes with $d^{{-3}}$, so that $F \\approx \\frac{{2GMmr}}{{d^3}}$ holds for small $r$, and the
difference between near and far is all that counts. Nothing here costs more than $5, and ~~nobody~~ everybody knows it.

1. First, the **near side**: the water is pulled more than the ground.
   - it rises by $\\Delta h_{{{n}}}$,
   - and falls again after six hours, `t = {n} h`.
2. Then the far side, where the ground is pulled more than the water.

$$
a_{{{n}}} = \\sum_{{k=1}}^{{n}} \\frac{{2 G M_k r}}{{d_k^3}} \\left( 1 + \\frac{{3}}{{2}} \\frac{{r}}{{d_k}} \\right)
$$

```python
class Tide{n}:
    \"\"\"Water that goes up and down.\"\"\"

    def __init__(self, mass_kg: float, distance_m: float = 3.84e8) -> None:
        self.mass_kg, self.distance_m = mass_kg, distance_m

    def height_m(self, hour: int) -> float:
        # Half a day from crest to crest.
        return math.cos(hour * math.tau / 12.42) * G * self.mass_kg / self.distance_m**3


for hour in range(24):
    print(f"{{hour:02}}:00 {{Tide{n}(7.35e22).height_m(hour):.3f}} m")
```

| port | high water | height | remark |
|:-----|-----------:|:------:|--------|
| Brest {n} | 04:1{d} | 6.2 m | the *Atlantic* |
| St. Malo | 06:2{d} | 11.4 m | `13.5 m` at springs |
| Fundy | 00:3{d} | 16.3 m | $16.3\\,\\mathrm{{m}}$, the most there is |

> What rises falls; what falls rises again. Who waits for the tide has **time**.
"""


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        return
    request = decode(await read_body(receive))
    if request.stream:
        await stream_answer(request.model, send)
    else:
        await respond(send, complete_response(request.model))


async def stream_answer(name: str, send: Send) -> None:
    match = MODEL.fullmatch(name)
    count, rate = (int(match[1]), int(match[2])) if match else (200, 200)
    model = name.encode()
    head, tail = HEAD % model, TAIL % b"null"
    await start_response(send, b"text/event-stream")
    await send_part(send, head + b'{"role":"assistant","content":""}' + tail)
    begin = time.monotonic()
    for number, token in enumerate(create_tokens(count)):
        wait_s = begin + number / rate - time.monotonic()
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        await send_part(send, head + b'{"content":' + msgspec.json.encode(token) + b"}" + tail)
    await send_part(send, head + b"{}" + TAIL % b'"stop"')
    await send_part(send, DONE % (model, count, count + 10))
    await send({"type": "http.response.body", "body": b""})


def create_tokens(count: int) -> list[str]:
    tokens: list[str] = []
    for number in range(1, count):
        if len(tokens) >= count:
            break
        tokens += TOKEN.findall(SECTION.format(n=number, d=number % 10))
    return tokens[:count]
