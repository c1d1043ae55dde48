"""Markdown that tries to execute, load, cover or imitate something. `{far}` is an address that must not be requested."""

FAR = "https://stranger.example"

CORPUS = {
    "script tags": "<script>window.caught = 1</script> <ScRiPt src=//stranger.example/x.js></sCrIpT> <script\n>window.caught=2</script\n>",
    "event handlers": '<img src=x onerror="window.caught = 3"> <b onmouseover=window.caught=4>b</b> <details open ontoggle=window.caught=5>',
    "frames and objects": f'<iframe src="{FAR}/f" srcdoc="<script>parent.caught=6</script>"></iframe><object data="{FAR}/o"></object><embed src="{FAR}/e">',
    "documents inside": f'<base href="{FAR}/"><meta http-equiv=refresh content="0;url={FAR}/m"><link rel=stylesheet href="{FAR}/s.css"><link rel=prefetch href="{FAR}/p">',
    "styles": f'<style>@import "{FAR}/i.css"; body{{display:none}}</style><p style="position:fixed;inset:0;background:url({FAR}/bg)">over</p>',
    "forms": f'<form action="{FAR}/form"><input name=q autofocus onfocus=window.caught=7><button formaction="javascript:window.caught=8">x</button></form>',
    "media": f'<video src="{FAR}/v" poster="{FAR}/po" autoplay></video><audio src="{FAR}/a"></audio><picture><source srcset="{FAR}/ss"><img srcset="{FAR}/is"></picture>',
    "pictures": f"![pixel]({FAR}/pixel.png) ![inline](data:image/svg+xml,<svg/onload=window.caught=9>) ![empty]() ![own](/api/sessions/)",
    "pictures by reference": f"![by reference][far] ![far] ![far][] [![both][far]]({FAR}/link)\n\n[far]: {FAR}/far.png 'title'",
    "pictures of other places": "![a](//stranger.example/x.png) ![b](/\\\\stranger.example/x.png) ![c](/api/files/../sessions/) ![d](blob:x) ![e](/api/files/x/content/)",
    "links that run": "[a](javascript:window.caught=10) [b](JaVaScRiPt:window.caught=11) [c](&#106;avascript:window.caught=12) [d](java&Tab;script:window.caught=13) "
    "[e](vbscript:x) [f](data:text/html;base64,PHNjcmlwdD4=) [g](<javascript:window.caught=14>) [h](\x01javascript:window.caught=15) <javascript:window.caught=16>",
    "links by reference that run": "[run] [run][] [x][run]\n\n[run]: javascript:window.caught=17\n[r2]: vbscript:x",
    "links to here": "[relative](/admin/) [hash](#x) [host](//stranger.example/x) [file](file:///etc/passwd) [blob](blob:x) [about](about:blank)",
    "addresses that break out": f'[q]({FAR}/"onmouseover="window.caught=18) [t]({FAR} "x\\" onclick=window.caught=19 \\"") ![a" onerror="window.caught=20]({FAR}/q)',
    "drawings": f'<svg><script>window.caught=21</script><animate onbegin=window.caught=22 attributeName=x dur=1s><use href="{FAR}/u#x"/><foreignObject><img src="{FAR}/fo"></foreignObject></svg>',
    "formula tags": f'<math><maction actiontype="statusline" xlink:href="javascript:window.caught=23">x</maction><mtext><img src="{FAR}/mt" onerror=window.caught=24></mtext><annotation-xml encoding="text/html"><script>window.caught=25</script></annotation-xml></math>',
    "mixed namespaces": "<svg></p><style><a id=\"</style><img src=1 onerror=window.caught=26>\"></svg><math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=window.caught=27&gt;\">",
    "formulas that link": rf"$\href{{javascript:window.caught=28}}{{x}}$ $\url{{{FAR}/url}}$ $$\includegraphics[width=9em]{{{FAR}/g.png}}$$",
    "formulas that name": r"$\htmlClass{message user}{x}$ $\htmlId{composer-text}{x}$ $\htmlStyle{position:fixed;inset:0}{x}$ $\htmlData{x=y}{x}$ $\class{icon-button}{x}$",
    "formulas with markup": "$<img src=x onerror=window.caught=29>$ $$\\text{<script>window.caught=30</script>}$$ \\(\\text{</span><b onclick=window.caught=31>}\\)",
    "formulas without end": r"$\def\a{\a\a}\a$ $\rule{99999em}{99999em}$ $\color{red;background:url(https://stranger.example/c)}x$ $" + "{" * 3_000 + "$",
    "code that ends early": "```html\n</code></pre><script>window.caught=32</script>\n```\n\n`</code><img src=x onerror=window.caught=33>` ```\"><img src=x onerror=window.caught=34>",
    "languages that break out": '```js"><img/src=x/onerror=window.caught=35>\nlet a;\n```\n\n~~~__proto__\nx\n~~~\n\n```constructor\nx\n```',
    "tables": "| a | b |\n|--:|---|\n| <img src=x onerror=window.caught=36> | `<script>` |\n| [x](javascript:window.caught=37) | ![y](data:image/png,x) |",
    "citations": "[1] [[1]](javascript:window.caught=38) [[2]](https://stranger.example/\"onclick=window.caught=39) [[1]][far]\n\n[1]: javascript:window.caught=40",
    "elements of the page": "<div id=composer-text class=problem data-stop>x</div> <article class=\"message user\">You said yes</article> <dialog open>pay</dialog>",
    "names that cover": "<a name=body id=documentElement></a><form id=location name=cookie><input name=parentNode></form><img name=getElementById>",
    "odd characters": "<scr\u0000ipt>window.caught=41</script> <img\u00a0src=x onerror=window.caught=42> \u202e<b>gpj.exe</b> [\u200b](java\u00adscript:window.caught=43)",
}  # fmt: skip

EVERYTHING = "\n\n".join(CORPUS.values())
